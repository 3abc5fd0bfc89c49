"""From a suite's name or path to a validated suite; every mistake in a file becomes one sentence with its location."""

from __future__ import annotations

import fnmatch
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from mfbench.errors import SuiteError, UnknownNameError, UsageError, quoted, suggestion
from mfbench.host.expressions import Expression, Registered, parse
from mfbench.host.factories import check_parameters
from mfbench.host.registry import Registry
from mfbench.model.evaluation import CURVE_METRICS, ProtocolSpec, Score, TaskSpec
from mfbench.suite.schema import (
    FEWEST_ROWS,
    LARGEST_FILE,
    LONGEST_METRIC,
    Method,
    ProtocolSettings,
    Suite,
    check_datasets,
    standard_profiles,
)
from mfbench.suite.tasks import misfit, task_of
from mfbench.suite.validation_messages import at, describe

# Keys of every protocol: they determine how a trial is run and scored, not its rows.
COMMON = ("kind", "form", "scale", "classes", "metrics", "grid_values", "timeout", "memory")


@dataclass(frozen=True)
class Restriction:
    """Name patterns that select datasets and methods, and how messages refer to them."""

    # Shell patterns. If any pattern matches a dataset, the datasets are restricted to the matches; likewise for
    # methods. Without patterns nothing is restricted.
    patterns: tuple[str, ...]
    source: str = "--only"  # origin of the patterns: an option, or a table of a file
    scope: str = "no dataset and no method of this suite"  # what a pattern without a match was compared with

    def kept(self, groups: Iterable[Sequence[str]]) -> list[set[str]]:
        """Return the names in each group that the patterns select."""
        groups = list(groups)
        names = [name for group in groups for name in group]
        for pattern in self.patterns:
            if not matching([pattern], names):
                near = suggestion(pattern.strip("*?"), names)
                if set(pattern) & set("*?[") and not near.startswith(": did you mean"):
                    of_suite = self.scope == Restriction.scope
                    near = "; 'mfbench suites NAME' lists the labels of a suite" if of_suite else ""
                raise UsageError(f"{self.source} {pattern!r} matches {self.scope}{near}")
        return [matching(self.patterns, group) or set(group) for group in groups]


def matching(patterns: Collection[str], names: Iterable[str]) -> set[str]:
    """Return the names that match any of the shell patterns."""
    return {name for name in names if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)}


def expand_replicates(suite: Suite, profile: str, file: str) -> Suite:
    """Expand replicates: each dataset is listed once per seed."""
    groups = []
    total = 0
    for position, group in enumerate(suite.datasets):
        location = f"{file}: datasets[{position}].replicates"
        count = group.replicates
        if isinstance(count, dict):
            if profile not in count:
                raise SuiteError(f"{location}: no number for the profile {profile!r}; add {profile} = …")
            count = count[profile]
        total += len(group.use) * (1 if count is None else count)
        check_datasets(total, location if count is not None else f"{file}: datasets[{position}].use")
        if count is None:
            groups.append(group)
        elif count:
            use = [text for base in group.use for text in _with_seeds(base, count, location)]
            groups.append(group.model_copy(update={"use": use}))
    if not groups:
        raise SuiteError(f"{file}: datasets: the profile {profile!r} has no replicates of any dataset")
    return suite.model_copy(update={"datasets": groups})


def _with_seeds(text: str, count: int, location: str) -> list[str]:
    with at(location):
        if ":" in text:
            raise UsageError(f"{text!r} is not generated from a seed; only generated datasets have replicates")
        base = parse(text)
        if "seed" in base.params:
            raise UsageError(f"{text!r} sets a seed; 'replicates' sets the seeds")
    return [str(Expression(base.name, {**base.params, "seed": seed})) for seed in range(count)]


ERRORS_SHOWN = 10


@dataclass(frozen=True)
class SuiteLocation:
    """The location of an entry of a suite for messages: a table of its file, or an option of the command."""

    text: str
    has_keys: bool = True  # whether it is a table, whose keys messages include

    def __str__(self) -> str:
        return self.text

    def key(self, name: str) -> str:
        """Return the location of a key of the table."""
        return f"{self.text}.{name}" if self.has_keys else self.text


@dataclass(frozen=True)
class LoadedSuite:
    """A validated suite with a profile applied."""

    suite: Suite  # as in the file
    path: Path  # the file; paths of `file:` datasets are relative to its folder
    profile: str
    protocol: ProtocolSettings  # the protocol with the profile applied: every key of its kind is set
    request: tuple[str, ...]  # the words after `mfbench suite` that request this suite
    spec: ProtocolSpec  # of the kind of protocol
    task: TaskSpec
    scores: Mapping[str, Score]  # what the metrics of the protocol mean, by name in its order
    part: str | None = None  # name of the part to run; None for the whole suite
    # Methods that are not in the file, by label, each with the option that added it.
    added_methods: Mapping[str, str] = field(default_factory=dict)
    added_data: Mapping[int, str] = field(default_factory=dict)  # the same for datasets, by position in the suite

    @property
    def all_scores(self) -> dict[str, Score]:
        """What each score of a trial means: the metrics, and those that the protocol always measures."""
        return {**self.scores, **self.spec.own_scores}

    @property
    def part_patterns(self) -> tuple[str, ...]:
        """The patterns of the part; empty for the whole suite."""
        return () if self.part is None else tuple(self.suite.parts[self.part].only)

    def restrictions(self, only: Sequence[str] = ()) -> list[Restriction]:
        """Return the restrictions of a run: the suite's part, and within it the patterns of ``--only``."""
        scope = f"no dataset and no method of the profile {self.profile!r}"
        within = Restriction.scope if self.part is None else f"no dataset and no method of the part {self.part!r}"
        part = Restriction(self.part_patterns, f"{self.path}: parts.{self.part}.only:", scope)
        return [part, Restriction(tuple(only), scope=within)]

    def place_of_method(self, position: int) -> SuiteLocation:
        """Return the location of a method."""
        option = self.added_methods.get(self.suite.methods[position].label)
        return SuiteLocation(option or f"{self.path}: methods[{position}]", has_keys=option is None)

    def place_of_dataset(self, position: int, index: int) -> str:
        """Return the location of a dataset: the position of its table, and the index in the table's list."""
        return self.added_data.get(position, f"{self.path}: datasets[{position}].use[{index}]")


def load_suite(
    name: str,
    registry: Registry,
    profile: str | None = None,
    seed: int | None = None,
    *,
    preferred: str | None = None,
    part: str | None = None,
    max_rows: int | None = None,
    metrics: Sequence[str] = (),
) -> LoadedSuite:
    """Find, read and validate a suite."""
    path = find_suite(name, registry)
    suite = parse_suite(read_text(path), str(path))
    spec = protocol_of(suite, registry, str(path))
    if seed is not None:
        if not 0 <= seed < 2**32:
            raise UsageError(f"--seed {seed} is out of range: use a whole number from 0 to {2**32 - 1}")
        suite = suite.model_copy(update={"suite": suite.suite.model_copy(update={"seed": seed})})
    profiles = {**standard_profiles(spec), **suite.profiles}
    default = preferred if preferred in profiles else suite.suite.profile
    profile_name = default if profile is None else profile
    if profile_name not in profiles:
        if profile is None:
            raise SuiteError(
                f"{path}: suite.profile: unknown profile {profile_name!r}{suggestion(profile_name, profiles)}"
            )
        raise UnknownNameError("profile", profile_name, profiles, f"of suite {suite.suite.name!r}")
    if part is not None and part not in suite.parts:
        if not suite.parts:
            raise UsageError(f"--part {part!r}: the suite {suite.suite.name!r} has no parts; use --only GLOB")
        raise UnknownNameError("part", part, suite.parts, f"of suite {suite.suite.name!r}")
    suite = _of_profile(suite, profile_name, profiles, str(path))
    task = task_of(suite.datasets, registry, str(path), registry.home_of(path.resolve().parent))
    _check_learners(suite, spec, task, str(path))
    suite = expand_replicates(suite, profile_name, str(path))
    options = {"--profile": profile_name, "--part": part, "--seed": seed, "--max-rows": max_rows}
    words = [word for option, value in options.items() if value is not None for word in (option, str(value))]
    words += [word for metric in metrics for word in ("--metric", metric)]
    protocol = suite.protocol.completed(spec, profiles[profile_name], task.metrics)
    if max_rows is not None:
        if not spec.samples:
            raise UsageError(f"--max-rows: the protocol {protocol.kind!r} of {path} does not sample training rows")
        if max_rows < FEWEST_ROWS:
            raise UsageError(f"--max-rows {max_rows} is too few: use a whole number from {FEWEST_ROWS}")
        protocol = protocol.model_copy(update={"max_rows": max_rows})
    scores = scores_of(protocol, spec, task, registry, metrics, str(path))
    protocol = protocol.model_copy(update={"metrics": list(scores)})
    return LoadedSuite(suite, path, profile_name, protocol, (name, *words), spec, task, scores, part)


def _of_profile(suite: Suite, profile: str, profiles: Collection[str], file: str) -> Suite:
    """Return a suite without datasets and methods of other profiles."""
    labels, kept = suite.report.labels, dict[str, list[Any]]()
    lists = {"report.labels": [] if isinstance(labels, bool) else labels}
    for part in ("datasets", "methods"):
        lists |= {f"{part}[{n}].profiles": entry.profiles or [] for n, entry in enumerate(getattr(suite, part))}
    for place, names in lists.items():
        for name in names:
            if name not in profiles:
                raise SuiteError(f"{file}: {place}: unknown profile {name!r}{suggestion(name, profiles)}")
    for part in ("datasets", "methods"):
        entries = getattr(suite, part)
        kept[part] = [entry for entry in entries if entry.profiles is None or profile in entry.profiles]
        if not kept[part]:
            raise SuiteError(f"{file}: {part}: the profile {profile!r} has no {part}")
    return suite.model_copy(update=kept)


def find_suite(name: str, registry: Registry) -> Path:
    """Return the file of a shipped suite or of a path; see `load_suite`."""
    path = Path(name)
    if path.suffix == ".toml" or "/" in name or "\\" in name:
        if not path.is_file():
            raise UsageError(f"there is no suite file {name!r}; 'mfbench suites' lists the installed suites")
        return path
    return registry.suites()[registry.suite_names.resolve(name)]


def read_text(path: Path) -> str:
    """Read a suite file as UTF-8, or raise `SuiteError`."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            raise SuiteError(f"{path}: larger than {LARGEST_FILE // 2**20} MiB, which is too large for a suite")
        return content.decode("utf-8-sig")  # some editors start a file with a byte order mark
    except UnicodeDecodeError as error:
        raise SuiteError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except OSError as error:
        raise SuiteError(f"{path}: cannot be read: {error.strerror}") from None


def parse_toml(text: str, file: str) -> dict[str, Any]:
    """Parse TOML, or raise `SuiteError`."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SuiteError(f"{file}: not valid TOML: {error}") from None
    except ValueError:  # Python refuses to parse them
        raise SuiteError(f"{file}: a whole number has thousands of digits; use at most 64 bits") from None
    except RecursionError:
        raise SuiteError(f"{file}: lists or tables are nested too deeply") from None


def parse_suite(text: str, file: str) -> Suite:
    """Validate the text of a suite file."""
    data = parse_toml(text, file)
    try:
        suite = Suite.model_validate(data)
    except ValidationError as error:
        lines = [f"{file}: {line}" for line in describe(error, Suite, data)]
        more = len(lines) - ERRORS_SHOWN
        raise SuiteError("\n".join(lines[:ERRORS_SHOWN] + ([f"… and {more} more"] if more > 0 else []))) from None
    _check_labels(suite, file)
    return suite


def _check_labels(suite: Suite, file: str) -> None:
    labels = [method.label for method in suite.methods]
    for position, method in enumerate(suite.methods):
        for earlier, other in enumerate(suite.methods[:position]):
            if method.label == other.label and _share_a_profile(method, other):
                raise SuiteError(
                    f"{file}: methods[{position}].label: {method.label!r} is also the label of methods[{earlier}]; "
                    "labels are unique in each profile"
                )
    reference = suite.report.reference
    if reference is not None and reference not in labels:
        raise SuiteError(
            f"{file}: report.reference: no method has the label {quoted(reference)}{suggestion(reference, labels)}"
        )


def _share_a_profile(first: Method, second: Method) -> bool:
    """Return whether two methods share a profile; a method without ``profiles`` belongs to all."""
    return first.profiles is None or second.profiles is None or bool(set(first.profiles) & set(second.profiles))


def protocol_of(suite: Suite, registry: Registry, file: str) -> ProtocolSpec:
    """Return the protocol of a suite; keys of other protocols are errors, since readers would expect an effect."""
    kind = suite.protocol.kind
    with at(f"{file}: protocol.kind"):
        spec: ProtocolSpec = registry.entry("protocol", kind).spec
    optional = {"curve": spec.draws_curves, "max_rows": spec.samples}
    keys = [*spec.keys, *COMMON, *(key for key, is_possible in optional.items() if is_possible)]
    if "metrics" in suite.protocol.model_fields_set and not suite.protocol.metrics:
        raise SuiteError(f"{file}: protocol.metrics: an empty list; list at least one metric, or leave it out")
    tables = {"protocol": suite.protocol, **{f"profiles.{name}": table for name, table in suite.profiles.items()}}
    for path, table in tables.items():
        for key in sorted(table.model_fields_set - set(keys)):
            near = suggestion(key, keys)
            near = near if near.startswith(": did you mean") else f"; it has {', '.join(spec.keys)}"
            raise SuiteError(f"{file}: {path}.{key}: the protocol {kind!r} has no such key{near}")
    return spec


def _check_learners(suite: Suite, spec: ProtocolSpec, task: TaskSpec, file: str) -> None:
    """Refuse a method without the learner that the task needs if test rows are predicted."""
    for position, method in enumerate(suite.methods):
        kinds = [kind for kind in method.steps if kind != "selector"]
        other = next((kind for kind in kinds if kind != task.learner), None)
        if other is not None:
            raise SuiteError(
                f"{file}: methods[{position}].{other}: the datasets pose the task {task.name}, which needs a "
                f"{task.learner}; write {task.learner} = …"
            )
        if spec.predicts and not kinds:
            raise SuiteError(f"{file}: methods[{position}].{task.learner}: missing; add {task.learner} = …")


def scores_of(
    protocol: ProtocolSettings,
    spec: ProtocolSpec,
    task: TaskSpec,
    registry: Registry,
    added: Sequence[str] = (),
    file: str = "",
) -> dict[str, Score]:
    """Return what a protocol's metrics mean, by name; those of ``--metric`` come first."""
    scores = dict[str, Score]()
    for option, metrics in (("--metric", added), ("", protocol.metrics)):
        for metric in metrics:
            location = f"--metric {metric!r}" if option else f"{file}: protocol.metrics"
            try:
                name, score = _score(metric, spec, registry, task)
                if name in scores and (option or name not in added):
                    raise UsageError(f"{name!r}: list each metric only once")
            except UsageError as error:
                raise (UsageError if option else SuiteError)(f"{location}: {error}") from None
            scores.setdefault(name, score)
    if spec.draws_curves:
        _check_area(scores, f"{file}: protocol.metrics")
    return scores


def shared_entries(protocol: ProtocolSettings, registry: Registry) -> list[Registered]:
    """Return what plugins registered that every trial of a protocol runs: the protocol and its metrics."""
    entry = registry.entry("protocol", protocol.kind)
    own = entry.spec.own_scores
    metrics = (parse(name, references=True).name for name in protocol.metrics if name not in own)
    return [entry, *(registry.entry("metric", name) for name in metrics)]


def score_named(text: str, registry: Registry) -> tuple[str, Score]:
    """Return the canonical name of a score, and what it means, whichever protocol measures it."""
    specs = [entry.spec for entry in registry.listed("protocol").values()]
    spec = next((spec for spec in specs if text in spec.own_scores), next(spec for spec in specs if spec.predicts))
    return _score(text, spec, registry)


def _score(text: str, spec: ProtocolSpec, registry: Registry, task: TaskSpec | None = None) -> tuple[str, Score]:
    """Return the canonical name of a metric, and what it means."""
    own = spec.own_scores
    if text in own:
        return text, own[text]
    if not spec.predicts or any(text in other.spec.own_scores for other in registry.listed("protocol").values()):
        raise UsageError(f"the protocol {spec.name!r} does not measure {text!r}{suggestion(text, own)}")
    expression = parse(text, references=True)
    try:
        registered = registry.entry("metric", expression.name)
    except UnknownNameError:
        names = [*own, *registry.listed("metric")]
        raise UnknownNameError("metric", expression.name, names, "see 'mfbench plugins'") from None
    check_parameters(registered, expression.params)
    if task is not None and not task.suits(registered.spec.tasks):
        raise UsageError(misfit(task, registered.spec.tasks, repr(text)))
    name = str(expression)
    if len(name) > LONGEST_METRIC or not name.isascii():  # `Metric` would refuse to read it from the stored run
        raise UsageError(f"a metric with its parameters has at most {LONGEST_METRIC} characters, all of them ASCII")
    return name, Score.of(registered.spec)


def _check_area(scores: Mapping[str, Score], location: str) -> None:
    """Reject an area under a curve without a score that it is the area under."""
    area = next((metric for metric in scores if metric in CURVE_METRICS), None)
    if area is None:
        return
    first = next((metric for metric in scores if metric not in CURVE_METRICS), None)
    if first is None:
        raise SuiteError(f"{location}: {area!r} is the area under another score; list that one as well")
    if not scores[first].greater_is_better:
        raise SuiteError(
            f"{location}: {area!r} would be the area under {first!r}, for which smaller values are better; list a "
            "score for which greater values are better before it"
        )
