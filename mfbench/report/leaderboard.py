"""The leaderboard: methods in one order, each with its gap to the best, as the page and the terminal draw it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mfbench.base.text import counted, plain
from mfbench.model.evaluation import Score
from mfbench.report.cells import in_points, size_text
from mfbench.report.heading import listed
from mfbench.report.verdicts import sound_test
from mfbench.stats.mean_differences import MeanDifferences
from mfbench.stats.results import Run
from mfbench.stats.summary import COUNTED

TICKS = 5
# A gap of more than this number of median gaps does not stretch the axis.
OUTLIER = 3.0
# Of more methods than MOST_SHOWN, the picture shows the first ones until the reader asks for all.
MOST_SHOWN, FIRST_SHOWN = 40, 15
# Of one dataset, the trials of at most this number of methods are drawn, if they have at most this number of trials.
MOST_METHODS, MOST_TRIALS = 8, 30
_INTERVALS = (("low", "high"), ("low_all", "high_all"))


@dataclass(frozen=True)
class Standing:
    """A method of a leaderboard; gaps and intervals are in score units, below 0 if it is behind the best."""

    label: str
    name: str
    mean: float
    gap: float
    single: tuple[float, float]  # interval of this difference by itself; NaN if nothing was tested
    joint: tuple[float, float]  # interval that holds for all pairs together
    is_worse: bool  # separated from the best
    # Datasets on which it is worse than the reference, not different, better, and without a verdict; none of its own.
    outcomes: tuple[int, ...]
    seconds: float  # mean of a trial, with tuning and prediction
    trials: tuple[float, ...] = ()  # gaps of single trials, if there is one dataset with few of them

    @property
    def code(self) -> str:
        """The label as plain text; empty if it is the name."""
        code = plain(self.label)
        return "" if code == self.name else code


@dataclass(frozen=True)
class Leaderboard:
    """The methods of a comparison, best first."""

    title: str  # the datasets that it holds for
    standings: Sequence[Standing]
    reference: str  # its name
    score: Score
    note: str  # how intervals and groups are made

    @property
    def axis(self) -> tuple[float, float]:
        """The range of gaps in the picture: intervals of single pairs, without the gaps that would stretch it."""
        others = [one for one in self.standings if one.gap != 0.0]
        usual = OUTLIER * float(np.median([abs(one.gap) for one in others])) if others else 0.0
        shown = [
            end
            for one in others
            if abs(one.gap) <= usual
            for end in (one.gap, *one.single, *one.trials)
            if math.isfinite(end)
        ]
        low, high = min([0.0, *shown]), max([0.0, *shown])
        room = 0.06 * (high - low) or 1.0
        return low - room, high + room

    @property
    def ticks(self) -> list[float]:
        """Round numbers on the axis."""
        low, high = self.axis
        step = 10.0 ** math.floor(math.log10((high - low) / TICKS))
        step *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (factor * step) <= TICKS)
        ticks = [step * number for number in range(math.ceil(low / step), math.floor(high / step) + 1)]
        return [tick for tick in ticks if 4.0 < self.place(tick) < 96.0]

    def place(self, gap: float) -> float:
        """Return where a gap is on the axis, in percent of its length; ends outside of it are cut off."""
        low, high = self.axis
        return round(100.0 * min(1.0, max(0.0, (gap - low) / (high - low))), 2)

    def is_outside(self, gap: float) -> bool:
        """Return whether a gap is beyond the end of the axis."""
        return gap < self.axis[0]

    def place_of_time(self, seconds: float) -> float:
        """Return where a duration is on a logarithmic axis, in percent of its length."""
        logs = [math.log10(one.seconds) for one in self.standings if one.seconds > 0.0]
        low, high = min(logs, default=0.0), max(logs, default=0.0)
        share = 0.5 if low == high else (math.log10(seconds) - low) / (high - low)
        return round(4.0 + 92.0 * share, 2)

    def size(self, value: float, sign: str = "+") -> str:
        """Return a gap with its sign, or a mean, in the unit of the axis."""
        return size_text(value + 0.0, self.score.percent, sign).replace("-", "−")

    def tick_text(self, tick: float) -> str:
        """Return the label of a tick."""
        return f"{100.0 * tick if self.score.percent else tick:.6g}".replace("-", "−")

    @property
    def unit(self) -> str:
        """The unit of gaps."""
        return "percentage points" if self.score.percent else "score"

    @property
    def has_several_datasets(self) -> bool:
        """Whether a method has verdicts on more than one dataset."""
        return any(sum(one.outcomes) > 1 for one in self.standings)

    def is_folded(self, place: int) -> bool:
        """Return whether the method at a place is shown only on request."""
        standing = self.standings[place]
        return len(self.standings) > MOST_SHOWN and place >= FIRST_SHOWN and standing.name != self.reference


def leaderboards_of(run: Run) -> list[Leaderboard]:
    """Return the leaderboard on these datasets, and if they are enough, the one on datasets like these."""
    overall = run.overall()
    claims, score, names = overall.claims, run.settings.score, run.meta.display_names
    if len(claims.methods) < 2 or not len(claims.scores):
        return []
    level, best, reference = f"{100 * (1 - claims.alpha):g} %", names[claims.methods[0]], names[str(overall.reference)]
    dot = f"Dot: mean difference from {best}."
    intervals = (
        f" Bar: its {level} interval; thin line: the interval for all pairs together. Hollow: separated from {best}."
    )
    trials = f"{run.protocol.trial_name}s"
    verdicts = f" Against {reference}: {sound_test(run)} on each dataset, unadjusted." * (len(claims.scores) > 1)
    tested = not claims.these["holm"].isna().all()
    note = f"{intervals} Intervals are based on the spread between {trials}." if tested else ""
    title = f"These {overall.n_datasets} datasets" if overall.n_datasets > 1 else "This dataset"
    standings = _standings(run, claims, claims.these, "holm")
    dots = f" Small dots: single {trials}." if any(one.trials for one in standings) else ""
    boards = [Leaderboard(title, standings, reference, score, dot + note + dots + verdicts)]
    if claims.is_enough:
        note = (
            f"{intervals} Differences are capped at {in_points(claims.cap, score)} per dataset; intervals are based on "
            f"the spread between {counted(claims.n_families, 'unrelated dataset')}."
        )
        column = "named" if claims.methods[0] == claims.reference else "adjusted"
        standings = _standings(run, claims, claims.like_these, column)
        boards.append(Leaderboard("Datasets like these", standings, reference, score, dot + note + verdicts))
    return boards


def _standings(run: Run, claims: MeanDifferences, frame: pd.DataFrame, column: str) -> list[Standing]:
    names, summary = run.meta.display_names, run.summary().set_index("method").to_dict("index")
    rows = {row["second"]: row for row in claims.against(claims.methods[0], frame).to_dict("records")}
    done, reference = run.outcomes[run.outcomes["status"].notna()]["method"].value_counts(), run.settings.reference
    means, apart = run.overall().completed.scores.mean(axis=0), _gaps_of_trials(run, claims)
    standings = []
    for label in claims.methods:
        row, own = rows.get(label, {}), summary[label]
        is_worse = bool(row) and row["mean"] > 0.0 and row[column] < claims.alpha
        single, joint = ((-row[high], -row[low]) if row else (0.0, 0.0) for low, high in _INTERVALS)
        # A step-down procedure separates more pairs than the joint intervals; where it does, the interval ends at zero.
        joint = (joint[0], min(joint[1], 0.0)) if is_worse else joint
        counts = () if label == reference else tuple(int(own[f"sound_{outcome}"]) for outcome in COUNTED.values())
        seconds = float(own["total_seconds"] / done[label])
        gap = -float(row["mean"]) if row else 0.0
        means_and_gaps = float(means[label]), gap, single, joint
        standings.append(
            Standing(label, names[label], *means_and_gaps, is_worse, counts, seconds, apart.get(label, ()))
        )
    return sorted(standings, key=lambda one: -one.gap)


def _gaps_of_trials(run: Run, claims: MeanDifferences) -> dict[str, tuple[float, ...]]:
    """Return the gaps of each trial on the only dataset to that of the best method; empty if there are many."""
    if len(claims.scores) > 1 or len(claims.methods) > MOST_METHODS or run.folds_per_dataset > MOST_TRIALS:
        return {}
    settings, (dataset,) = run.settings, claims.scores.index
    own = run.compared[run.compared["dataset"] == dataset]
    scores = own.pivot(index=["repeat", "fold"], columns="method", values=settings.metric).astype(float)
    scores = scores * settings.sign / settings.unit_on(str(dataset))
    best, *others = claims.methods
    return {label: tuple((scores[label] - scores[best]).tolist()) for label in others}


def question_of(run: Run) -> str:
    """Return the question that a comparison answers, for the heading."""
    overall, score, names = run.overall(), run.settings.score, run.meta.display_names
    n = overall.n_datasets
    where = f"{n} datasets" if n > 1 else str(overall.completed.scores.index[0])
    methods = overall.claims.methods
    if len(methods) == 2 and overall.reference in methods:
        (other,) = (label for label in methods if label != overall.reference)
        return f"Is {names[str(overall.reference)]} better than {names[other]} on {where}?"
    extreme = "highest" if score.greater_is_better else "lowest"
    return f"Which method has the {extreme} {run.settings.metric.replace('_', ' ')} on {where}?"


def state_of(run: Run) -> str:
    """Return how many trials finished, failed, and are to come."""
    total, status = len(run.outcomes), run.outcomes["status"]
    done, failed = int(status.notna().sum()), len(run.failures)
    text = f"All {total:,} trials have run" if done == total else f"{done:,} of {total:,} trials have run"
    if not failed:
        return f"{text}{', and none failed' if done else ''}."
    counts = [f"{method} {count}" for method, count in run.failures["method"].value_counts().items()]
    return f"{text}; {failed:,} failed ({listed(counts)})."


def size_of(run: Run) -> str:
    """Return the size of a comparison: methods, datasets and trials of each."""
    overall, planned = run.overall(), run.outcomes["dataset"].nunique()
    complete = f"{overall.n_datasets} of " if overall.n_datasets < planned else ""
    parts = [counted(len(overall.claims.methods), "method"), complete + counted(planned, "dataset")]
    return ", ".join([*parts, counted(run.folds_per_dataset, run.protocol.trial_name)])
