"""The metadata of a run: recorded by the runner at the start, stored as JSON, read by analysis and report.

A stored run can be reported without its suite file and plugins, so the metadata contain everything that a report states
about a run.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from itertools import product
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from mfbench.base.text import plain, shell_command
from mfbench.errors import NeverStartedError, PluginError, RunError, describe_error
from mfbench.host.code_hashes import host_code, method_code, numeric_versions
from mfbench.host.expressions import Plugin, Registered
from mfbench.host.registry import Registry
from mfbench.model.evaluation import ProtocolSpec, Score
from mfbench.model.specs import CLASSIFICATION, EstimatorSpec
from mfbench.suite.loading import shared_entries
from mfbench.suite.methods import Step
from mfbench.suite.plan import Plan, Shard, shard_folder_name
from mfbench.suite.protocols import EvaluationProtocol
from mfbench.suite.published import PublishedCount, PublishedFigure
from mfbench.suite.schema import Classes, Curve, Header, ProtocolSettings, ReportSettings, Selection, Top
from mfbench.suite.splitters import DatasetSplits

# Read once: the installation may change while a process runs the code that it has loaded.
VERSION = metadata.version("mfbench")


@dataclass(frozen=True)
class Source:
    """The origin of a method or dataset."""

    plugin: Plugin
    module: str  # module of its factory or loader


@dataclass(frozen=True)
class Fingerprint:
    """The code that a process computes with."""

    version: str  # mfbench's version
    host: str  # hash of the mfbench code that takes part in computing a result
    libraries: Mapping[str, str]  # versions of the numeric libraries
    # The code of each method and dataset, as in `mfbench.host.code_hashes.method_code`; empty if the plugin is not
    # installed.
    code: Mapping[Source, Mapping[str, str]]


def fingerprint_of(sources: Iterable[Source]) -> Fingerprint:
    """Return the fingerprint of this process."""
    return Fingerprint(VERSION, host_code(), numeric_versions(), {one: _code(one) for one in sources})


def sources_of(plan: Plan, registry: Registry) -> tuple[Source, ...]:
    """Return the origins of a plan's methods and of the datasets whose rounds workers generate."""
    entries: list[Registered] = []
    for method in plan.methods.values():
        entries += [entry for step in method.steps for entry in registry.entries(step.kind, step.expression)]
    entries += shared_entries(plan.loaded.protocol, registry)
    for planned in plan.datasets.values():
        if planned.reference is not None:
            entries.append(registry.entry("dataset", planned.reference.expression.name))
    return tuple(dict.fromkeys(Source(entry.plugin, entry.module) for entry in entries))


def differences(theirs: Fingerprint, here: Fingerprint) -> list[str]:
    """Return one clause for each difference between this process and another; empty if results are the same."""
    reasons = code_differences(_versions(theirs), _versions(here))
    if theirs.version == here.version and theirs.host != here.host:
        reasons.insert(0, f"mfbench {here.version} with other code")
    for source, code in theirs.code.items():
        own = here.code.get(source, {})
        if not own and code:
            reasons.append(f"plugin {source.plugin.distribution or source.plugin.name} is not installed")
        elif source.plugin.distribution != "mfbench" or theirs.version == here.version:
            reasons += code_differences(code, own)
    return list(dict.fromkeys(reasons))


def _versions(fingerprint: Fingerprint) -> dict[str, str]:
    libraries = {f"package {name}": version for name, version in fingerprint.libraries.items()}
    return {"package mfbench": fingerprint.version, **libraries}


def code_differences(theirs: Mapping[str, str], here: Mapping[str, str]) -> list[str]:
    """Return one clause for each differing version or hash, named as in `mfbench.host.code_hashes.method_code`."""
    clauses = []
    for key in dict.fromkeys([*theirs, *here]):
        before, now = theirs.get(key), here.get(key)
        kind, _, name = key.partition(" ")
        name = name or f"the {kind} of the method"
        if not now and before:
            clauses.append(f"{name} is not installed")
        elif not before and now:
            clauses.append(f"{name} is installed in addition")
        elif before != now:
            is_version = kind in ("distribution", "package", "requirement")
            clauses.append(f"{name} {now} instead of {before}" if is_version else f"{name} with other code")
    return clauses


def _code(source: Source) -> dict[str, str]:
    plugin = source.plugin
    if plugin.distribution:
        try:
            plugin = dataclasses.replace(plugin, version=metadata.version(plugin.distribution))
        except metadata.PackageNotFoundError:
            return {}
    spec = EstimatorSpec(name="any", summary="", factory=f"{source.module}:any")
    code = method_code(Registered(spec, plugin))
    # A module without a distribution that does not exist here has no hash.
    return code if any(value for name, value in code.items() if name != "adapter") else {}


_TABLES = ("methods", "datasets")
UNRECORDED = "the run does not record the versions and hashes of its code"


class RecordedCode(BaseModel, frozen=True):
    """The code behind the keys of a run's trials; empty for merged runs that differ in it."""

    mfbench: str = ""  # its version
    host: str = ""  # hash of the mfbench code that takes part in computing a result
    libraries: dict[str, str] = {}  # versions of the numeric libraries
    methods: dict[str, dict[str, str]] = {}  # the code of each method: versions and hashes by name
    datasets: dict[str, dict[str, str]] = {}  # the same for datasets that workers generate


def code_of(plan: Plan) -> RecordedCode:
    """Return the code that the keys of a plan depend on."""
    methods: dict[str, dict[str, str]] = {}
    datasets: dict[str, dict[str, str]] = {}
    shared: dict[str, Any] = {}
    for (dataset, method), ingredients in plan.ingredients.items():
        shared = {"mfbench": VERSION, "host": ingredients["host"], "libraries": dict(ingredients["libraries"])}
        methods[method] = dict(ingredients["code"])
        if isinstance(ingredients["dataset"], Mapping):
            datasets[dataset] = dict(ingredients["dataset"]["code"])
    return RecordedCode(**shared, methods=methods, datasets=datasets)


def joined_code(codes: Sequence[RecordedCode]) -> RecordedCode:
    """Return the common code of merged runs; empty if they differ."""
    methods, datasets = ({k: v for code in codes for k, v in getattr(code, name).items()} for name in _TABLES)
    joined = codes[0].model_copy(update={"methods": methods, "datasets": datasets})
    is_one_code = all(
        (code.mfbench, code.host, code.libraries) == (joined.mfbench, joined.host, joined.libraries)
        and code.methods.items() <= methods.items()
        and code.datasets.items() <= datasets.items()
        for code in codes
    )
    return joined if is_one_code else RecordedCode()


def differences_of(there: RecordedCode, here: RecordedCode, dataset: str, method: str) -> list[str]:
    """Return one clause for each difference between the code here and the code behind a result."""
    if not there.mfbench:
        return [UNRECORDED]
    clauses = differences(_shared(there), _shared(here))
    clauses += code_differences(there.methods.get(method, {}), here.methods.get(method, {}))
    clauses += code_differences(there.datasets.get(dataset, {}), here.datasets.get(dataset, {}))
    return list(dict.fromkeys(clauses))


def _shared(code: RecordedCode) -> Fingerprint:
    return Fingerprint(code.mfbench, code.host, code.libraries, {})


class Environment(BaseModel, frozen=True):
    """Machine and software of a run, as in ``environment.json``."""

    mfbench: str
    python: str
    implementation: str = ""
    system: str = ""
    cpu: str
    cpus: int = 0  # processors available to the run
    memory_bytes: int = 0
    jobs: int  # worker processes
    threads_per_worker: int = 1
    memory_limit_bytes: int = 0  # memory limit of each worker; 0 if each machine has its own default
    executor: str = "local"  # what ran the trials: "local" or a plugin's engine
    libraries: dict[str, str | None]  # versions; None if not installed
    plugins: list[str] = []  # name and version of each plugin
    git_commit: str | None = None  # commit of mfbench's own checkout; None if mfbench is installed
    command: list[str] = []  # the words of the command line
    date: str = ""  # day of the last start, as in 2026-11-29; empty in runs of older versions


class RecordedSuite(BaseModel, frozen=True, extra="allow"):
    """The suite of a run: fields that reports read are typed; datasets, methods and profiles stay as in the file."""

    suite: Header
    report: ReportSettings = ReportSettings()


class PublishedHeading(BaseModel, frozen=True):
    """Title and metric of a published table."""

    title: str
    metric: str


class RecordedFigures(BaseModel, frozen=True):
    """The published figures for the run's cells, their tables by name, and the papers' counts for its methods."""

    tables: dict[str, PublishedHeading] = {}
    figures: list[PublishedFigure] = []
    counts: list[PublishedCount] = []


class Reused(BaseModel, frozen=True):
    """The results measured by other runs: earlier ones in the reports folder, or bundles."""

    # The result keys from each run, by folder name (`SUITE/RUN` if it is of another suite), or by bundle name with the
    # start of its hash.
    keys: dict[str, list[str]] = {}
    # How a run's machine or number of workers differed from this one's.
    differences: dict[str, str] = {}
    # A sentence on each unreadable run, and on unusable results of a bundle.
    passed_over: list[str] = []
    bundles: list[str] = []  # the names that refer to bundles, whose results are unverified claims of their authors


class RecordedShard(BaseModel, frozen=True):
    """The part of a plan that a run has: a shard, or several merged ones."""

    numbers: list[int] = []  # the shards, from 1 to `of`; empty after merging shards of different divisions
    of: int = 0
    run: str  # name of the whole run's folder
    # Digest of the whole plan. Empty after merging shards of different plans, whose positions are not comparable.
    digest: str = ""
    n_trials: int  # number of trials in the whole plan
    batch: str = ""  # distinguishes the shards of different batches; empty outside a batch

    @classmethod
    def of_shard(cls, shard: Shard) -> RecordedShard:
        """Return the record of a shard."""
        values = {name: getattr(shard, name) for name in ("of", "run", "digest", "n_trials", "batch")}
        return cls(numbers=[shard.number], **values)

    @property
    def folder_name(self) -> str:
        """The name of its own run folder; empty for merged shards."""
        return shard_folder_name(self.run, self.numbers[0], self.of, self.batch) if len(self.numbers) == 1 else ""

    @property
    def words(self) -> list[str]:
        """The command-line words that request it; empty if unknown."""
        return ["--shard", f"{self.numbers[0]}/{self.of}"] if len(self.numbers) == 1 and not self.batch else []


def resume_command(words: Sequence[str]) -> str:
    """Return the command that resumes an interrupted run."""
    return shell_command(["mfbench", *(word for word in words if word != "--fresh")])


class RecordedProtocol(BaseModel, frozen=True):
    """What reports need to know about a protocol, whether or not its plugin is installed."""

    kind: str
    folds: int
    repeats: int
    decisions: str = "multi-class"
    splitter: str | None = None
    trial_name: str = "fold"  # what reports call a trial
    test_train_ratio: float
    description: str
    tuning: str
    predicts: bool
    times: bool
    draws_curves: bool
    compares: bool = True
    resampling: str  # predicts, times, draws_curves, compares, resampling: as in `ProtocolSpec`

    @classmethod
    def of(cls, protocol: EvaluationProtocol, spec: ProtocolSpec) -> RecordedProtocol:
        """Return the record of a plan's protocol."""
        ours = ("kind", "folds", "repeats", "decisions", "splitter", "trial_name", "test_train_ratio")
        theirs = ("predicts", "times", "draws_curves", "compares", "resampling")
        try:
            facts = {name: getattr(protocol, name) for name in ours} | {name: getattr(spec, name) for name in theirs}
            return cls(**facts, description=protocol.describe(), tuning=protocol.describe_tuning())
        except Exception as error:
            raise PluginError(
                f"the protocol {spec.name!r} does not describe itself: {describe_error(error)}"
            ) from error

    def coordinates(self, own: DatasetSplits | None = None) -> Iterator[tuple[int, int]]:
        """Yield every (repeat, fold) in order, as `EvaluationProtocol.coordinates`."""
        sizes = self if own is None else own
        return product(range(sizes.repeats), range(sizes.folds))


class RecordedTask(BaseModel, frozen=True):
    """The task of a run, as far as its report needs it without the plugin; as in `TaskSpec`."""

    name: str = CLASSIFICATION
    learner: str = "classifier"
    target: str = "classes"
    description: str = "{classes}"


class RunMetadata(BaseModel, frozen=True):
    """The metadata recorded by the last start of a run."""

    suite: RecordedSuite
    protocol: ProtocolSettings  # complete: with the profile applied and every key of its kind set
    design: RecordedProtocol
    task: RecordedTask = RecordedTask()
    scores: dict[str, Score]  # what each score of a trial means
    protocol_key: str  # together with a dataset's label, identifies its stored splits
    splits: dict[str, DatasetSplits] = {}  # the facts about the splits of each dataset with a splitter
    profile: str
    published: RecordedFigures = RecordedFigures()
    selection: dict[str, Selection] = {}  # how each tuned method's parameters are selected
    methods: dict[str, str]  # description of each method by label, in suite order
    names: dict[str, str] = {}  # its name in reports; empty in runs of older versions
    rules: dict[str, Top | Literal["relevant"]] = {}  # `top` of each method
    curves: dict[str, Curve] = {}  # `curve` of each method that has one
    classifiers: dict[str, str] = {}  # the learner, with its grid, of each method with a curve
    weighted: list[str] = []  # methods with a curve whose selector's weights count in the classifier's distance
    takes_numbers: list[str] = []  # methods whose selector is fitted directly on a real-valued target
    real_valued: list[str] = []  # datasets whose classes are cut from numbers
    classes: dict[str, Classes] = {}  # the classes kept of each dataset that deviates from the protocol
    # The dropped classes of each dataset, with their numbers of rows.
    dropped_classes: dict[str, dict[str, int]] = {}
    # For each two-class method, the datasets with more classes; it has no trials on them.
    unsuited: dict[str, list[str]] = {}
    needs_dense: dict[str, list[str]] = {}
    with_weights: list[str] = []  # datasets whose rows have weights
    unweighted: list[str] = []  # the methods and metrics that ignore these
    feature_groups: dict[str, dict[str, int]] = {}  # the number of features of each group, by dataset
    environment: Environment
    command: list[str]  # the command that restarts the run
    part: str = ""  # the suite's part that the run is restricted to; empty for the whole suite
    part_patterns: list[str] = []  # the patterns of that part
    only: list[str] = []  # the patterns of `--only` that restrict the run within its suite or `part`
    used_mirror: bool = False  # whether any dataset came from a mirror
    out: str = "reports"  # the reports folder; empty for runs merged elsewhere
    reused: Reused = Reused()  # the results taken from earlier runs
    shard: RecordedShard | None = None  # the part of its plan that the run has; None for a whole plan
    # Other environments that contributed results to a merged run.
    other_environments: list[Environment] = []
    # Seconds of the budget that ended the last start before all trials had run; 0 if none did.
    ended_budget: float = 0.0
    machines: dict[str, str] = {}  # machines that have run trials, each with its kind
    code: RecordedCode = RecordedCode()  # the code that the results depend on

    @property
    def folder_words(self) -> list[str]:
        """The command-line words that name the reports folder; empty for the default."""
        return [] if self.out in ("", "reports") else ["--out", self.out]

    @property
    def resume_command(self) -> str:
        """The command that resumes the run, as the user typed it if so."""
        typed = self.environment.command
        if typed[1:2] == ["suite"]:
            return resume_command(typed[1:])
        shard = [] if self.shard is None else self.shard.words
        return shell_command([*self.command, *shard, *self.folder_words])

    @property
    def name(self) -> str:
        """The suite's name."""
        return self.suite.suite.name

    @property
    def title(self) -> str:
        """The heading of the report."""
        return self.suite.suite.title or self.name

    @property
    def display_names(self) -> dict[str, str]:
        """The name of each method in reports, by label."""
        return {label: plain(self.names.get(label, label)) for label in self.methods}

    @property
    def seed(self) -> int:
        """The suite's seed."""
        return self.suite.suite.seed

    @property
    def report(self) -> ReportSettings:
        """The suite's ``[report]``."""
        return self.suite.report

    def to_columns(self) -> dict[str, Any]:
        """Return one plain value per field, as stored."""
        return self.model_dump(mode="json")

    @classmethod
    def from_columns(cls, columns: Mapping[str, Any], folder: Path) -> RunMetadata:
        """Return the metadata from stored values."""
        if "protocol" not in columns:
            raise NeverStartedError(folder)
        try:
            return cls.model_validate(columns)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(map(str, first["loc"]))
            raise RunError(
                f"this mfbench cannot read the run in {folder}: {field}: {first['msg']}; use the mfbench that wrote it"
            ) from error


def display_names(plan: Plan, registry: Registry) -> dict[str, str]:
    """Return the name of each method in reports: that of the suite or of its steps; equal ones get a label."""
    loaded = plan.loaded
    labels, written = loaded.suite.report.labels, {method.label: method.name for method in loaded.suite.methods}
    written |= {label: label for label in loaded.added_methods}
    if labels is True or (labels and loaded.profile in labels):
        return {label: label for label in plan.methods}
    names = {
        label: plain(written[label] or " + ".join(step_name(step, registry) for step in method.steps))
        for label, method in plan.methods.items()
    }
    counts = Counter(names.values())
    return {label: name if counts[name] == 1 else f"{name} ({label})" for label, name in names.items()}


def step_name(step: Step, registry: Registry) -> str:
    """Return the name of a selector or learner in reports: what its summary has before a colon, or else its own."""
    name, colon, _ = registry.entry(step.kind, step.expression.name).spec.summary.partition(": ")
    return name if colon else step.title


def metadata_of(plan: Plan, folder: Path, environment: Environment, **recorded: Any) -> RunMetadata:
    """Return the metadata to record at the start of a run, with fields that earlier starts have recorded."""
    loaded = plan.loaded
    curves = {label: method.curve for label, method in plan.methods.items() if method.curve is not None}
    tables = {table.name: PublishedHeading(title=table.title, metric=table.about.metric) for table in plan.published}
    return RunMetadata(
        suite=RecordedSuite.model_validate(loaded.suite.model_dump(mode="json")),
        protocol=loaded.protocol,
        design=RecordedProtocol.of(plan.protocol, loaded.spec),
        task=RecordedTask(**{name: getattr(loaded.task, name) for name in RecordedTask.model_fields}),
        scores=loaded.all_scores,
        protocol_key=plan.protocol.identity,
        splits={label: p.own_splits for label, p in plan.datasets.items() if p.own_splits is not None},
        profile=loaded.profile,
        published=RecordedFigures(tables=tables, figures=plan.figures, counts=plan.counts),
        selection={label: method.selection for label, method in plan.methods.items() if method.grid},
        methods={label: method.describe() for label, method in plan.methods.items()},
        rules={label: method.top for label, method in plan.methods.items()},
        curves=curves,
        classifiers={label: plan.methods[label].described_learner for label in curves},
        weighted=[label for label in curves if plan.methods[label].weights is not None],
        takes_numbers=[m.label for m in plan.methods.values() if m.selector is not None and m.selector.numbers],
        real_valued=[label for label, planned in plan.datasets.items() if planned.data.response is not None],
        classes={label: p.classes for label, p in plan.datasets.items() if p.classes != loaded.protocol.classes},
        dropped_classes={label: dict(p.dropped) for label, p in plan.datasets.items() if p.dropped},
        unsuited=plan.unsuited,
        needs_dense=plan.needs_dense,
        with_weights=[label for label, planned in plan.datasets.items() if planned.data.weights is not None],
        unweighted=plan.unweighted,
        feature_groups={
            label: {group: len(names) for group, names in p.data.feature_groups.items()}
            for label, p in plan.datasets.items()
            if p.data.feature_groups
        },
        environment=environment,
        command=["mfbench", "suite", *loaded.request, *(word for glob in plan.only for word in ("--only", glob))],
        part=loaded.part or "",
        part_patterns=list(loaded.part_patterns),
        only=list(plan.only),
        used_mirror=any(planned.location == "mirror" for planned in plan.datasets.values()),
        out=folder.parent.parent.as_posix(),
        shard=None if plan.shard is None else RecordedShard.of_shard(plan.shard),
        code=code_of(plan),
        **recorded,
    )
