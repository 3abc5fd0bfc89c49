"""The board: a leaderboard for each suite from bundles, with what was verified of each, and where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd

from mfbench.base.text import counted, listing, shell_command
from mfbench.errors import MfbenchError, UsageError
from mfbench.host.registry import load_registry
from mfbench.model.sections import Report, Section
from mfbench.processes.temporary import temporary_folder
from mfbench.report.cells import size_text, table_of, time_cell
from mfbench.report.present import Run
from mfbench.run.merging import merge_runs
from mfbench.stats.summary import mean_table
from mfbench_claims.agreement import COMPARED, AgreementKind
from mfbench_claims.installed_suite import installed_methods
from mfbench_claims.ratings import LEAST_DATASETS, ratings
from mfbench_claims.reading import OpenedBundle, opened_bundles
from mfbench_claims.records import Record, read_records
from mfbench_claims.verdicts import claimed_run
from mfbench_claims.verification import FORGED, chance_of_finding, percent_text

_RULES = [
    "Rating: the Bradley-Terry model. On each dataset the better mean wins, means within the margin are a tie, and 400 "
    "points more are odds of ten to one; the mean rating is 1000. Intervals are 95 %, from resampled datasets. "
    f"Methods share a rank if none of them is significantly better; each pair is tested by itself, and with fewer than "
    f"{LEAST_DATASETS} datasets all share the first. A method without a result on each dataset has no rank.",
    "Gap: mean difference from the best score on each dataset. Time: that of all trials. Verified: results that were "
    "computed again, of all results of the method; who wrote a record is not verified.",
]


@dataclass(frozen=True)
class Submission:
    """A bundle and its verifications."""

    bundle: OpenedBundle
    run: Run
    records: Sequence[Record]

    def verified(self, method: str | None = None) -> tuple[int, int]:
        """Return how many results, of one method or of all, were compared, and how many of these differ."""
        outcomes: dict[tuple[Any, ...], bool] = {}
        for record in self.records:
            for trial in record.trials:
                if trial.outcome in COMPARED and method in (None, trial.method):
                    place = (trial.dataset, trial.method, trial.repeat, trial.fold)
                    outcomes[place] = outcomes.get(place, False) or trial.outcome is AgreementKind.DIFFERENT
        return len(outcomes), sum(outcomes.values())

    def verified_text(self, method: str | None = None) -> str:
        """Return this as text."""
        outcomes = self.run.outcomes
        own = outcomes if method is None else outcomes[outcomes["method"] == method]
        compared, differing = self.verified(method)
        if not compared:
            return "never verified"
        difference = f", {differing:,} different" if differing else ""
        return f"{compared:,} of {int(own['status'].notna().sum()):,}{difference}"


@dataclass
class Leaderboard:
    """The submissions of a suite whose results can be compared, joined to one run."""

    submissions: list[Submission]
    run: Run
    remark: str = ""
    table: pd.DataFrame = field(init=False)  # one row per method, by rank
    datasets: list[str] = field(init=False)  # those with a score

    def __post_init__(self) -> None:
        run, settings = self.run, self.run.settings
        means = mean_table(run.scores)
        units = pd.Series({label: settings.unit_on(str(label)) for label in means.index}, dtype=float)
        scores = means.div(units, axis=0).dropna(how="all")
        self.table = ratings(scores, settings.margin, greater_is_better=settings.greater_is_better, seed=run.meta.seed)
        best = scores.max(axis=1) if settings.greater_is_better else scores.min(axis=1)
        self.table["datasets"] = scores.notna().sum()
        self.table["gap"] = scores.sub(best, axis=0).mean()
        self.table["seconds"] = run.summary().set_index("method")["total_seconds"]
        self.datasets = list(map(str, scores.index))

    def source(self, method: str) -> Submission:
        """Return the submission that has the results of a method; of several, the one verified most."""
        own = [each for each in self.submissions if method in each.run.methods]
        return max(own, key=lambda each: each.verified(method)[0])


def board_of(folder: Path) -> Report:
    """Return the board of the bundles below a folder, and of the records in folders ``records`` there."""
    paths = sorted(folder.rglob("*.zip"))
    if not paths:
        raise UsageError(f"there is no bundle below {folder}: 'mfbench bundle RUN -o {folder}/NAME.zip' writes one")
    records, problems = read_records(sorted(folder.rglob("records/*.json")))
    submissions: list[Submission] = []
    with ExitStack() as stack:
        work = stack.enter_context(temporary_folder("board"))
        for path in paths:
            try:
                (bundle,) = stack.enter_context(opened_bundles([path]))
                run = claimed_run(bundle)
            except UsageError as error:
                problems.append(f"{error}.")
                continue
            if run.protocol.times:
                problems.append(f"{path} measures times, which are of one machine, so it has no leaderboard.")
                continue
            own = [record for record in records if record.sha256 == bundle.sha256]
            submissions.append(Submission(bundle, run, own))
        boards = list(_leaderboards(submissions, work))
        sections = [section for board in boards for section in _sections(board)]
        sections.append(Section("How to read it", notes=_RULES))
        data = {"leaderboards": [_data(board) for board in boards]}
    setting = f"{counted(len(boards), 'leaderboard')} of {counted(len(submissions), 'bundle')}"
    return Report("Board", setting, sections, data, problems=problems)


def _leaderboards(submissions: Sequence[Submission], work: Path) -> Iterator[Leaderboard]:
    """Yield a leaderboard for each suite and profile; bundles that cannot be joined have their own."""

    def key(each: Submission) -> tuple[str, str]:
        return each.run.meta.name, each.run.meta.profile

    for number, (_, group) in enumerate(groupby(sorted(submissions, key=key), key)):
        own = list(group)
        if len(own) == 1:
            yield Leaderboard(own, own[0].run)
            continue
        try:
            merge_runs([each.bundle.folder for each in own], work / f"{number}")
            yield Leaderboard(own, Run(work / f"{number}"))
        except MfbenchError as error:
            reason = str(error)
            for each in own:
                reason = reason.replace(str(each.bundle.folder), each.bundle.name)
            for each in own:
                yield Leaderboard([each], each.run, f"Not joined with the other bundles of this suite: {reason}.")


def _sections(board: Leaderboard) -> Iterator[Section]:
    run, percent = board.run, board.run.settings.score.percent
    installed = installed_methods(run.meta, load_registry())
    rows = []
    for row in board.table.reset_index(names="method").to_dict("records"):
        source = board.source(row["method"])
        interval = "" if pd.isna(row["low"]) else f" [{row['low']:.0f}, {row['high']:.0f}]"
        name = run.meta.display_names[row["method"]]
        name = name if row["method"] in name else f"{name} ({row['method']})"
        cells = [name, f"{row['rank'] or '–'}", f"{row['rating']:.0f}{interval}"]
        cells += [f"{row['datasets']} of {len(board.datasets)}", size_text(row["gap"], percent, "+z")]
        checked = [
            source.verified_text(row["method"]),
            source.bundle.sha256[:12],
            _command(source, row["method"], installed),
        ]
        rows.append([*cells, time_cell(row["seconds"]), *checked])
    gap = f"gap in {run.settings.metric}{', points' if percent else ''}"
    columns = ["method", "rank", "rating", "datasets", gap, "time", "verified", "bundle", "to compute it again"]
    title = f"{run.meta.name}, profile {run.meta.profile}"
    yield Section(title, [table_of(columns, rows)], notes=[board.remark] if board.remark else [])
    yield Section(f"Bundles of {title}", [_bundles(board)], notes=[_on_forgeries(board)])


def _bundles(board: Leaderboard) -> Any:
    rows = []
    for each in board.submissions:
        head = [each.bundle.path.name, each.bundle.sha256, each.verified_text()]
        if not each.records:
            rows.append([*head, "–", "–", "–", "–"])
        for record in each.records:
            compared, differences = f"{record.compared:,}, --seed {record.seed}", listing(record.differences)
            rows.append([*head, record.machine, compared, record.verdict, differences or "nothing"])
            head = ["", "", ""]
    columns = ["file", "SHA-256", "verified in all", "machine", "results compared", "verdict", "different there"]
    return table_of(columns, rows)


def _on_forgeries(board: Leaderboard) -> str:
    sentences = []
    for each in board.submissions:
        compared, results = each.verified()[0], each.bundle.manifest.results
        chance = chance_of_finding(results, compared, FORGED)
        sentences.append(f"{each.bundle.path.name} {percent_text(chance)}")
    return (
        f"Probability that the verified samples would have had a different result if {100 * FORGED:.0f} % of the "
        f"results were forged: {'; '.join(sentences)}."
    )


def _command(source: Submission, method: str, installed: set[str]) -> str:
    """Return what computes a method again: a run of the suite or, of a suite that is not installed, a verification."""
    meta = source.run.meta
    if not installed:
        return shell_command(["mfbench", "verify", source.bundle.path.name, "--all"])
    added = [] if method in installed else ["--add", f"{method} = {meta.methods[method].replace('→', '->')}"]
    return shell_command([*meta.command, *added, "--only", method])


def _data(board: Leaderboard) -> dict[str, Any]:
    """Return a leaderboard as plain values."""
    methods = []
    for row in board.table.reset_index(names="method").to_dict("records"):
        source = board.source(row["method"])
        compared, differing = source.verified(row["method"])
        methods.append({**row, "sha256": source.bundle.sha256, "verified": compared, "different": differing})
    return {
        "suite": board.run.meta.name,
        "profile": board.run.meta.profile,
        "datasets": board.datasets,
        "methods": methods,
    }
