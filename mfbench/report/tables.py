"""The content of a report as plain cells, so that the terminal and every export show the same."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mfbench.analysis.one_dataset.levels import LEVEL, level_held
from mfbench.analysis.one_dataset.rules import RULES
from mfbench.analysis.results import Run
from mfbench.analysis.summary import VERDICTS
from mfbench.run.trial.metrics import SCORES
from mfbench.trials import Unavailable

BEST, NOT_WORSE, PLAIN, MISSING, MARKED, BEST_MARKED = "best", "not-worse", "plain", "missing", "marked", "best-marked"
MARK = "≈"
S_MARKS = {">>": "≫", "<<": "≪", ">": ">", "<": "<", "=": "="}


@dataclass(frozen=True)
class Cell:
    """A text and its role: "best", "not-worse", "plain", "missing", and "marked" and "best-marked" beside a mark."""

    text: str
    role: str = PLAIN


@dataclass
class Table:
    """A heading, column names, rows of cells; `footer_rows` of them at the end are totals, column `wrap` may fold."""

    title: str
    columns: list[str]
    rows: list[list[Cell]] = field(default_factory=list)
    footer_rows: int = 0
    wrap: int | None = None


def headline(run: Run) -> str:
    """Return the report's title."""
    return run.meta.title


def setting(run: Run) -> str:
    """Return one sentence on how the numbers came about."""
    classes = "two largest classes" if run.meta.protocol.classes == "two-largest" else "all classes"
    return f"profile {run.meta.profile}: {run.protocol.describe()}, {classes}, {_tuning(run)}, seed {run.meta.seed}"


def _tuning(run: Run) -> str:
    ways = set(run.tuned.values())
    nested = run.protocol.describe_tuning()
    most = run.meta.protocol.grid_values
    thinned = f", at most {most} values of each parameter" if most else ""
    if "per-dataset" not in ways:
        return nested + thinned
    either = f" or {nested.removeprefix('tuning ')}" if len(ways) > 1 else ""
    return f"tuning per dataset on the folds reported{either}{thinned}"


def score_table(run: Run) -> Table:
    """Return datasets by methods: mean ± sd, marks, and the rows of wins, ties and losses and of average ranks."""
    metric = run.settings.metric
    factor = 100.0 if SCORES[metric].percent else 1.0
    unit = ", percent" if factor == 100.0 else ""
    methods = list(run.methods)
    table = Table(f"{metric}{unit}: mean ± sd over {run.protocol.trial_name}s", ["dataset", *methods])
    trivial = trivial_accuracies(run)
    if trivial:
        table.columns.insert(1, "trivial")
    scores = {(row["dataset"], row["method"]): row for row in run.scores.to_dict("records")}
    marks = _s_marks(run)
    for dataset in run.outcomes["dataset"].unique():
        cells = [
            score_cell(scores[dataset, m], factor == 100.0, marks.get((dataset, m), "") if marks else None)
            for m in methods
        ]
        beside = [Cell(f"{factor * trivial[str(dataset)]:.1f}")] if trivial else []
        table.rows.append([Cell(str(dataset)), *beside, *cells])
    nothing = [Cell("–", MISSING)] if trivial else []
    if run.settings.reference is not None and len(methods) > 1:
        summary = {row["method"]: row for row in run.summary().to_dict("records")}
        for title, prefix in verdict_kinds(run):
            wtl = [_wtl(summary[m], prefix) if m != run.settings.reference else Cell("–", MISSING) for m in methods]
            table.rows.append([Cell(title), *nothing, *wtl])
        ranks = [_rank(summary[m]["rank"]) for m in methods]
        table.rows.append([Cell("average rank"), *nothing, *ranks])
        table.footer_rows = len(verdict_kinds(run)) + 1
    return table


def trivial_accuracies(run: Run) -> dict[str, float]:
    """Return what always saying no scores on each dataset, for the one metric that it flatters."""
    if run.settings.metric != "one_vs_rest_accuracy":
        return {}
    return dict(zip(run.datasets["dataset"], run.datasets["trivial_accuracy"], strict=True))


def verdict_kinds(run: Run) -> list[tuple[str, str]]:
    """Return the kinds of wins, ties and losses that a report tells, each with its prefix in the summary."""
    if run.detects:
        # Rounds are independent, so that the ordinary paired test is both.
        return [("W/T/L", "sound_")]
    test = run.settings.test
    if _single(run):
        own = RULES[test].of_decisions and test != "mcnemar"
        return [("W/T/L", "sound_"), *([(f"{test} W/T/L", "")] if own else [])]
    kinds = [("published W/T/L", "published_"), ("sound W/T/L", "sound_")]
    if test not in (run.settings.published_test, "corrected-t"):
        kinds.append((f"{test} W/T/L", ""))
    return kinds


def _single(run: Run) -> bool:
    """Tell whether each method meets a single test set on a dataset, so that no test of fold scores is defined."""
    return run.folds_per_dataset == 1


def _s_marks(run: Run) -> dict[tuple[str, str], str]:
    """Return the marks of an s-test for each method against the reference; none where another test marks the table."""
    if run.settings.test not in ("s-test", "s-test-exact"):
        return {}
    turned = str.maketrans("<>", "><")
    return {
        (row["dataset"], row["method"]): S_MARKS[row["mark"].translate(turned)]
        for row in run.wins_ties_losses().to_dict("records")
    }


def score_cell(cell: Mapping[Any, Any], percent: bool, mark: str | None = None) -> Cell:
    """Return a mean and its spread, with the role and the mark that belong to it.

    Parameters
    ----------
    cell : mapping
        A row of `mfbench.analysis.summary.tabulate`.
    percent : bool
        Whether the score is written in percent.
    mark : str or None, default=None
        Of an s-test, "" for the reference's; None where ≈ marks the table.
    """
    if not np.isfinite(cell["mean"]):
        return Cell("–", MISSING)
    digits, factor = (1, 100.0) if percent else (3, 1.0)
    text = f"{factor * cell['mean']:.{digits}f}"
    if np.isfinite(cell["sd"]):
        text += f" ± {factor * cell['sd']:.{digits}f}"
    if not cell["complete"]:
        return Cell(f"{text} ({cell['completed']}/{cell['planned']})", MISSING)
    if mark:
        return Cell(f"{text} {mark}", BEST_MARKED if cell["best"] else MARKED)
    if cell["best"]:
        return Cell(text, BEST)
    if mark == "":
        return Cell(text)
    return Cell(f"{text} {MARK}", NOT_WORSE) if cell["not_worse"] else Cell(text)


def summary_table(run: Run) -> Table:
    """Return methods by mean score, rank, win/tie/loss, time, memory and failures, best rank first."""
    metric = run.settings.metric
    factor = 100.0 if SCORES[metric].percent else 1.0
    reference = run.settings.reference
    kinds = verdict_kinds(run)
    table = Table(
        "methods, best average rank first",
        [
            *("method", "what it is", f"mean {metric}", "rank"),
            *(title for title, _ in kinds),
            *("time", "peak memory", "failed"),
        ],
        wrap=1,
    )
    for row in run.summary().to_dict("records"):
        table.rows.append(
            [
                Cell(str(row["method"])),
                Cell(run.methods[row["method"]]),
                _number(factor * row["mean"], "{:.1f}" if factor == 100.0 else "{:.3f}"),
                _rank(row["rank"]),
                *(_wtl(row, prefix) if row["method"] != reference else Cell("reference") for _, prefix in kinds),
                Cell(seconds(row["total_seconds"])),
                Cell(f"{row['peak_memory'] / 1e6:.1f} MB"),
                Cell(f"{row['failed']} of {row['planned']}" if row["failed"] else "–"),
            ]
        )
    return table


def notes(run: Run, *, compared: bool = True) -> list[str]:
    """Return the sentences under the tables: how to read them, what was left out, what failed and what is missing.

    Parameters
    ----------
    run : Run
    compared : bool, default=True
        Whether the report compares methods.
    """
    lines = _verdict_notes(run) if compared else []
    if compared and trivial_accuracies(run):
        lines.append(
            "one_vs_rest_accuracy: of K > 2 classes the mean accuracy of K decisions, this class or another one. "
            "Always saying no is right on 1 - 1/K of them if classes are equally large; column trivial has it exactly."
        )
    optimistic = [label for label, way in run.tuned.items() if way == "per-dataset"]
    if optimistic:
        lines.append(
            f"Tuned per dataset: {', '.join(optimistic)}: one grid point for all folds of a dataset, chosen by their "
            "mean score on the very test parts that are reported. These figures are optimistic, and so are comparisons "
            "with methods that are not tuned so."
        )
    lines += left_out(run.left_out, run.unavailable, run.meta.command[2])
    undefined = run.scores[run.scores["completed"].eq(run.scores["planned"]) & ~run.scores["complete"].astype(bool)]
    for method, cells in undefined.groupby("method", sort=False):
        lines.append(
            f"Not defined: {run.settings.metric} of {method} on {len(cells)} datasets; the classifier does not give "
            "what it is computed from, or a test part lacks a class."
        )
    if run.n_pending:
        lines.append(f"Not run yet: {run.n_pending} of {len(run.outcomes)} trials. The figures are over what there is.")
    failures = run.failures
    for _, group in failures.groupby(["dataset", "method", "status"], sort=False):
        first = group.to_dict("records")[0]
        lines.append(
            f"Failed: {first['method']} on {first['dataset']}: {len(group)} × {first['status']}: "
            f"{first['error_type']}: {_one_line(first['error_message'])}"
        )
    warned = (
        run.outcomes[run.outcomes["n_warnings"].fillna(0) > 0]
        if "n_warnings" in run.outcomes
        else run.outcomes.iloc[:0]
    )
    for method, group in warned.groupby("method", sort=False):
        example = str(group["warning"].iloc[0])
        lines.append(f"Warnings: {method}: in {len(group)} trials, such as {_one_line(example)}")
    return lines


def _verdict_notes(run: Run) -> list[str]:
    settings = run.settings
    if run.detects:
        return [
            f"Bold: best mean of the dataset; {MARK}: not significantly worse than it. W/T/L: on how many datasets "
            f"{settings.reference} wins, ties and loses against the method. All at α = {settings.alpha:g} by the "
            "paired t-test over rounds, which are independent, so that it needs no correction.",
            "There are many tests here: of methods that do not differ, about one pair in twenty is told apart.",
        ]
    if settings.test in ("s-test", "s-test-exact"):
        marks = (
            f"Bold: best mean of the dataset. ≫ and ≪: better and worse than {settings.reference} at 0.01, > and < at "
            f"0.05, = neither, by the {RULES[settings.test].title}."
        )
    else:
        of_scores = _single(run) and not RULES[settings.test].of_decisions
        marks = (
            f"Bold: best mean of the dataset; {MARK}: not significantly worse than it at α = {settings.alpha:g} by the "
            f"{RULES['mcnemar' if of_scores else settings.test].title}."
        )
    counts = f"W/T/L: on how many datasets {settings.reference} wins, ties and loses against the method, at "
    counts += f"α = {settings.alpha:g}"
    if _single(run):
        lines = [
            marks,
            f"{counts}, by the {RULES['mcnemar'].title}: a single test set has no spread between folds, so that no "
            "test of their scores is defined.",
        ]
    else:
        lines = [
            marks,
            f"{counts}. Published: by the rule of published tables, the {RULES[settings.published_test].title}. "
            f"Sound: by the {RULES['corrected-t'].title}.",
            *_levels(run),
        ]
    lines.append("A verdict on one dataset is a hint; the tests across datasets weigh more.")
    return lines


def _levels(run: Run) -> list[str]:
    """Return the sentence on the levels that the rules of a report really hold."""
    rules = dict.fromkeys((run.settings.published_test, "corrected-t", run.settings.test))
    held = [text for text in (_held(run, rule) for rule in rules) if text]
    if not held:
        return []
    return [
        f"Level really held at a nominal {100 * LEVEL:g} %, measured on pairs of methods equal by construction: "
        f"{'; '.join(held)}. The suite null-calibration measures it anew."
    ]


def _held(run: Run, rule: str) -> str:
    found = level_held(rule, run.protocol.kind, run.protocol.repeats)
    return f"{rule} {100 * found.low:.0f} to {100 * found.high:.0f} % ({found.design})" if found else ""


def left_out(reasons: Mapping[str, str], unavailable: Mapping[str, Unavailable], suite: str) -> list[str]:
    """Return why datasets were left out; unavailable ones share a sentence that says how to obtain them.

    Parameters
    ----------
    reasons : mapping of str to str
        Reason by dataset.
    unavailable : mapping of str to Unavailable
        The datasets that are only unavailable.
    suite : str
        Name or file of the suite, as on the command line.

    Returns
    -------
    list of str

    Examples
    --------
    >>> left_out({"a": "no network", "b": "damaged"}, {"a": Unavailable(can_pull=True)}, "uci")[0]
    'Left out: b: damaged'
    """
    lines = [f"Left out: {dataset}: {reason}" for dataset, reason in reasons.items() if dataset not in unavailable]
    pulled = [dataset for dataset, why in unavailable.items() if why.can_pull]
    others = [dataset for dataset, why in unavailable.items() if not why.can_pull]
    if pulled:
        command = shlex.join(["mfbench", "datasets", "pull", suite])
        lines.append(
            f"Left out as unavailable: {', '.join(pulled)}; to download, run: {command}, or name a mirror with "
            "--data-dir"
        )
        attempt = next((why.attempt for why in unavailable.values() if why.attempt), "")
        lines += [f"The download failed: {attempt}"] if attempt else []
    if others:
        lines.append(
            f"Left out as unavailable: {', '.join(others)}; no repository is known to have them: name a mirror that "
            "does with --data-dir, or import them with: mfbench datasets import"
        )
    return lines


def _one_line(text: object) -> str:
    # What is missing in a column of texts is None or, by pandas, NaN.
    words = " ".join(text.split()) if isinstance(text, str) and text.strip() else "no message"
    return words if len(words) <= 200 else words[:199] + "…"


def _wtl(row: Mapping[Any, Any], prefix: str) -> Cell:
    return Cell("/".join(str(int(row[f"{prefix}{verdict}"])) for verdict in VERDICTS))


def _rank(value: float) -> Cell:
    return Cell(rank_text(value)) if np.isfinite(value) else Cell("–", MISSING)


def rank_text(value: float) -> str:
    """Return an average rank with two digits, a half to the even one: a float's own digits would decide otherwise.

    Examples
    --------
    >>> rank_text(7.475), rank_text(7.525)
    ('7.48', '7.52')
    """
    return f"{np.round(value, 2):.2f}"


def _number(value: float, form: str) -> Cell:
    return Cell(form.format(value)) if np.isfinite(value) else Cell("–", MISSING)


def seconds(value: float) -> str:
    """Return a duration in a unit that reads well.

    Examples
    --------
    >>> seconds(0.0123), seconds(8.04), seconds(754), seconds(9000)
    ('12 ms', '8.0 s', '12 min 34 s', '2 h 30 min')
    """
    # Rounded before the unit is chosen, so that none reads "1000 ms" or "60.0 s".
    if round(1000 * value) < 1000:
        return f"{1000 * value:.0f} ms"
    if round(value, 1) < 60.0:
        return f"{value:.1f} s"
    value = round(value)
    if value < 3600:
        return f"{int(value // 60)} min {int(value % 60)} s"
    return f"{int(value // 3600)} h {int(value % 3600 // 60)} min"
