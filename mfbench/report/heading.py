"""The header of a report: the setting, the environment, and the commands that regenerate it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mfbench.base.text import counted, listing, shell_command
from mfbench.run.store.metadata import RunMetadata
from mfbench.stats.results import Run
from mfbench.suite.schema import ProtocolSettings

MIRROR = "--data-dir"


def setting_of(run: Run) -> str:
    """Return one sentence on profile, folds, classes, tuning, seed and unverified claims, without a period."""
    classes = run.meta.task.description.replace("{classes}", _kept_classes(run.meta, list(run.datasets["dataset"])))
    tuning = _tuning(run.meta.protocol, set(run.tuned.values()), run.protocol.tuning)
    claimed = f"; results as claimed by {listing(run.claims)}, not verified here" if run.claims else ""
    splits = f"splits by {run.protocol.splitter}" if run.protocol.splitter else run.protocol.description
    setting = f"{splits}, {classes}, {tuning}, seed {run.meta.seed}"
    return f"Profile {run.meta.profile}: {setting}{claimed}"


def _kept_classes(meta: RunMetadata, labels: Sequence[str]) -> str:
    """Return which classes are kept, naming the datasets that deviate from the rule."""
    texts = {"two-largest": "two largest classes", "all": "all classes"}
    own = [label for label in labels if meta.classes.get(label, meta.protocol.classes) != meta.protocol.classes]
    if not own:
        return texts[meta.protocol.classes]
    other = texts[meta.classes[own[0]]]
    return other if len(own) == len(labels) else f"{texts[meta.protocol.classes]} ({other} of {listing(own)})"


def _tuning(protocol: ProtocolSettings, used: set[str], nested: str) -> str:
    # A part of a suite may contain no tuned method; if so, use the suite's setting.
    selections: set[str | None] = {*used} or {protocol.selection}
    thinned = f", at most {protocol.grid_values} values of each parameter" if protocol.grid_values else ""
    if "per-dataset" not in selections:
        return nested + thinned
    alternative = f" or {nested.removeprefix('tuning ')}" if len(selections) > 1 else ""
    return f"tuning per dataset on the reported folds{alternative}{thinned}"


def environment_of(run: Run) -> str:
    """Return versions, processor and number of workers."""
    environment = run.meta.environment
    versions = f"Python {environment.python}, scikit-learn {environment.libraries['scikit-learn']}"
    return f"mfbench {environment.mfbench}, {versions}, {environment.cpu}, {counted(environment.jobs, 'worker')}"


def data_of(run: Run) -> dict[str, Any]:
    """Return the values of the JSON report that belong to no section."""
    compared = ("metric", "reference", "test", "alpha", "published_test", "missing")
    return {
        "title": run.meta.title,
        "setting": setting_of(run),
        **{name: getattr(run.settings, name) for name in compared},
        "rope": run.settings.margin,
        "methods": run.methods,
        "names": run.meta.display_names,
        "datasets": run.datasets,
        "part": run.meta.part or None,
        "only": run.meta.only,
        "shard": None if run.meta.shard is None else run.meta.shard.model_dump(exclude={"digest"}),
        "environment": run.meta.environment.model_dump(exclude_unset=True),
    }


@dataclass(frozen=True)
class Form:
    """The requested format of a report."""

    name: str = "terminal"
    figure: str | None = None  # name of a chart
    statistics: bool = False  # whether to include all pairs, win probabilities and times
    full: bool = False  # whether the terminal format includes everything that the other formats do
    reference: str | None = None  # of a published table
    output: Path | None = None  # output file, mentioned in the command at the top of a Markdown report
    # The joined runs, as named on the command line; empty for a single run.
    joined: Sequence[str] = ()
    figures: Path | None = None  # folder for all charts; a Markdown report embeds them
    picture_form: str = "svg"

    @property
    def figure_words(self) -> list[str]:
        """The command-line options that request the pictures."""
        words = [] if self.figures is None else ["--figures", self.figures.as_posix()]
        return [*words, "--format", self.picture_form] if words and self.picture_form != "svg" else words


def regeneration_commands(run: Run, form: Form) -> list[str]:
    """Return the commands that regenerate a run's report, in order."""
    folder = run.meta.folder_words
    options = ["--statistics"] if form.statistics else []
    options += ["--reference", run.reference] if run.reference is not None else []
    options += ["--metric", run.metric] if run.metric is not None else []
    options += [f"--{form.name}", *form.figure_words]
    options += ["--output", form.output.as_posix()] if form.output else []
    if form.joined or run.bundle is not None or not run.meta.out:  # no output folder: merged from several runs
        source = form.joined or [(run.bundle or run.path).as_posix()]
        return [shell_command(["mfbench", "report", *source, *options])]
    shard = run.meta.shard
    # Concurrent trials slow each other down, so timings depend on the number of workers.
    jobs = ["--jobs", str(run.meta.environment.jobs)] if run.protocol.times else []
    suite = [*_portable(run.meta), *jobs, *(shard.words if shard is not None else ()), *folder]
    stored = [run.meta.name, *folder] if shard is None else [run.path.as_posix()]
    return [shell_command(suite), shell_command(["mfbench", "report", *stored, *options])]


def _portable(meta: RunMetadata) -> list[str]:
    """Return a run's command for any machine; a mirror, if data came from it, is shown as DIR."""
    words = list(meta.command)
    if MIRROR in words:
        place = words.index(MIRROR)
        del words[place : place + 2]
    return [*words, MIRROR, "DIR"] if meta.used_mirror else words


MOST_NAMED = 6


def listed(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """Join names into a list for a sentence; beyond `most` they are counted."""
    return listing(names if len(names) <= most else [*names[:most], f"{len(names) - most} more"])
