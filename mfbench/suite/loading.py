"""From a suite's name or path to a validated suite; every mistake in a file becomes one sentence with its place."""

from __future__ import annotations

import tomllib
import types
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from mfbench.errors import SuiteError, UnknownNameError, UsageError, suggestion
from mfbench.host.expressions import Expression, parse
from mfbench.host.registry import Registry
from mfbench.suite.forms import COMMON, KINDS
from mfbench.suite.schema import ProtocolSettings, Suite, standard_profiles

MOST_ERRORS = 10
UNIONS = (types.UnionType, Union)  # "A | B" is the one or the other, depending on what A and B are


@dataclass(frozen=True)
class LoadedSuite:
    """A validated suite with a profile applied.

    Attributes
    ----------
    suite : Suite
        As in the file.
    path : Path
        The file; relative ``file:`` datasets are looked for beside it.
    profile : str
        The profile's name.
    protocol : ProtocolSettings
        The protocol with the profile applied, complete: every key that its kind has is set.
    request : tuple of str
        The words after ``mfbench suite`` that ask for this.
    """

    suite: Suite
    path: Path
    profile: str
    protocol: ProtocolSettings
    request: tuple[str, ...]


def load_suite(name: str, registry: Registry, profile: str | None = None, seed: int | None = None) -> LoadedSuite:
    """Find, read and validate a suite.

    Parameters
    ----------
    name : str
        A suite that a plugin ships (``"uci"``) or the path of a TOML file.
    registry : Registry
        Where shipped suites are found.
    profile : str or None, default=None
        The profile to apply; None takes the suite's own choice.
    seed : int or None, default=None
        Goes over the suite's seed.

    Returns
    -------
    LoadedSuite

    Raises
    ------
    SuiteError
        If the file is not a valid suite; the message has one line per mistake.
    UnknownNameError
        If there is no such suite.
    """
    path = find_suite(name, registry)
    suite = parse_suite(read_text(path), str(path))
    if seed is not None:
        if not 0 <= seed < 2**32:
            raise UsageError(f"--seed {seed} is out of range: use a whole number from 0 to {2**32 - 1}")
        suite = suite.model_copy(update={"suite": suite.suite.model_copy(update={"seed": seed})})
    chosen = profile or suite.suite.profile
    known = {**standard_profiles(suite.protocol.kind), **suite.profiles}
    if chosen not in known:
        if profile is None:
            raise SuiteError(f"{path}: suite.profile: unknown profile {chosen!r}{suggestion(chosen, known)}")
        raise UnknownNameError("profile", chosen, known, f"of suite {suite.suite.name!r}")
    suite = expand_replicates(_of_profile(suite, chosen, known, str(path)), chosen, str(path))
    request = (name, "--profile", chosen, *(() if seed is None else ("--seed", str(seed))))
    return LoadedSuite(suite, path, chosen, suite.protocol.completed(known[chosen]), request)


def _of_profile(suite: Suite, profile: str, known: Collection[str], where: str) -> Suite:
    """Return a suite without the datasets and methods that are for other profiles."""
    kept: dict[str, list[Any]] = {}
    for part in ("datasets", "methods"):
        entries = getattr(suite, part)
        for position, entry in enumerate(entries):
            for name in entry.profiles or ():
                if name not in known:
                    raise SuiteError(
                        f"{where}: {part}[{position}].profiles: unknown profile {name!r}{suggestion(name, known)}"
                    )
        kept[part] = [entry for entry in entries if entry.profiles is None or profile in entry.profiles]
        if not kept[part]:
            raise SuiteError(f"{where}: {part}: none is for the profile {profile!r}")
    return suite.model_copy(update=kept)


def expand_replicates(suite: Suite, profile: str, where: str) -> Suite:
    """Return a suite with its replicates written out: each dataset once for every seed.

    Parameters
    ----------
    suite : Suite
    profile : str
        Says how many, where the suite has a number for each profile. A list without draws is left out.
    where : str
        Name of the file, for messages.

    Raises
    ------
    SuiteError
        If the profile has no number, or a dataset is not drawn with a seed.
    """
    groups = []
    for position, group in enumerate(suite.datasets):
        place = f"{where}: datasets[{position}].replicates"
        count = group.replicates
        if isinstance(count, dict):
            if profile not in count:
                raise SuiteError(f"{place}: no number for the profile {profile!r}; add {profile} = …")
            count = count[profile]
        if count is None:
            groups.append(group)
        elif count:
            use = [text for base in group.use for text in _draws(base, count, place)]
            groups.append(group.model_copy(update={"use": use}))
    if not groups:
        raise SuiteError(f"{where}: datasets: the profile {profile!r} has no replicates of any dataset")
    return suite.model_copy(update={"datasets": groups})


def _draws(text: str, count: int, place: str) -> list[str]:
    if ":" in text:
        raise SuiteError(f"{place}: {text!r} is not drawn with a seed; replicates are for generated datasets")
    try:
        base = parse(text)
    except UsageError as error:
        raise SuiteError(f"{place}: {error}") from None
    if "seed" in base.params:
        raise SuiteError(f"{place}: {text!r} has a seed; replicates choose the seeds")
    return [str(Expression(base.name, {**base.params, "seed": seed})) for seed in range(count)]


def find_suite(name: str, registry: Registry) -> Path:
    """Return the file of a shipped suite or of a path; see `load_suite`."""
    path = Path(name)
    if path.suffix == ".toml" or "/" in name or "\\" in name:
        if not path.is_file():
            raise UsageError(f"there is no suite file {name!r}; 'mfbench suites' lists the suites that are installed")
        return path
    shipped = registry.suites()
    if name not in shipped:
        raise UnknownNameError("suite", name, shipped, "see 'mfbench suites', or give the path of a .toml file")
    return shipped[name]


def read_text(path: Path) -> str:
    """Read a suite file as UTF-8, or raise `SuiteError`."""
    try:
        return path.read_text(encoding="utf-8-sig")  # some editors begin a file with a byte order mark
    except UnicodeDecodeError as error:
        raise SuiteError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except OSError as error:
        raise SuiteError(f"{path}: cannot be read: {error.strerror}") from None


def parse_suite(text: str, where: str) -> Suite:
    r"""Validate the text of a suite file.

    Parameters
    ----------
    text : str
        TOML.
    where : str
        Name of the file, for messages.

    Returns
    -------
    Suite

    Raises
    ------
    SuiteError
        One line per mistake: file, key path, what was found, what is allowed.

    Examples
    --------
    >>> parse_suite('[suite]\nname = "x"\nsede = 1\n', "x.toml")
    Traceback (most recent call last):
    ...
    mfbench.errors.SuiteError: x.toml: suite.sede: unknown key: did you mean 'seed'?
    x.toml: datasets: missing; a suite needs at least one [[datasets]] table
    x.toml: methods: missing; a suite needs at least one [[methods]] table
    """
    try:
        data = tomllib.loads(text)
        suite = Suite.model_validate(data)
    except tomllib.TOMLDecodeError as error:
        raise SuiteError(f"{where}: not valid TOML: {error}") from None
    except RecursionError:
        raise SuiteError(f"{where}: lists or tables are nested too deeply") from None
    except ValidationError as error:
        lines = [f"{where}: {line}" for line in describe(error, Suite)]
        more = len(lines) - MOST_ERRORS
        raise SuiteError("\n".join(lines[:MOST_ERRORS] + ([f"… and {more} more"] if more > 0 else []))) from None
    _check_labels(suite, where)
    _check_keys(suite, where)
    return suite


def _check_labels(suite: Suite, where: str) -> None:
    labels = [method.label for method in suite.methods]
    for position, label in enumerate(labels):
        if label in labels[:position]:
            raise SuiteError(
                f"{where}: methods[{position}].label: {label!r} is also the label of methods[{labels.index(label)}]; "
                "labels are unique"
            )
    reference = suite.report.reference
    if reference is not None and reference not in labels:
        raise SuiteError(
            f"{where}: report.reference: no method has the label {reference!r}{suggestion(reference, labels)}"
        )
    metrics = suite.protocol.metrics
    if len(set(metrics)) < len(metrics):
        raise SuiteError(f"{where}: protocol.metrics: {', '.join(metrics)}: each metric is named once")


def _check_keys(suite: Suite, where: str) -> None:
    """Refuse keys that another kind of protocol has: silently ignored, they would look as if they counted."""
    kind = suite.protocol.kind
    keys = (*KINDS[kind].sound, *COMMON)
    _check_metrics(suite.protocol, where)
    if KINDS[kind].predicts:
        for position, method in enumerate(suite.methods):
            if method.classifier is None:
                raise SuiteError(f"{where}: methods[{position}].classifier: missing; add classifier = …")
    tables = {"protocol": suite.protocol, **{f"profiles.{name}": table for name, table in suite.profiles.items()}}
    for place, table in tables.items():
        for key in sorted(table.model_fields_set - set(keys)):
            own = ", ".join(KINDS[kind].sound)
            raise SuiteError(f"{where}: {place}.{key}: the protocol {kind!r} has no such key; its own are {own}")


def _check_metrics(protocol: ProtocolSettings, where: str) -> None:
    known = KINDS[protocol.kind].metrics
    for metric in protocol.metrics if "metrics" in protocol.model_fields_set else ():
        if metric not in known:
            raise SuiteError(
                f"{where}: protocol.metrics: the protocol {protocol.kind!r} does not measure {metric!r}"
                f"{suggestion(metric, known)}"
            )


def describe(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """Return one sentence for each place that pydantic complains about: key path, what was found, what is allowed."""
    by_place: dict[str, list[Any]] = {}
    for detail in error.errors(include_url=False):
        fields, inner = _follow(model, detail["loc"])
        by_place.setdefault(_path(fields), []).append((detail, inner))
    # A place inside another one says more: "tune.k is empty" makes "tune is no text" pointless.
    outer = {place for place in by_place for other in by_place if other.startswith((f"{place}.", f"{place}["))}
    return [f"{place}: {_sentence(details)}" for place, details in by_place.items() if place not in outer]


def _path(parts: Sequence[str | int]) -> str:
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text or "the file"


def _follow(model: type[BaseModel], location: Sequence[str | int]) -> tuple[list[str | int], type[BaseModel]]:
    """Walk a location down the models. Branch names that pydantic adds for unions are no keys of the file: left out."""
    kept: list[str | int] = []
    annotation: Any = model
    owner: type[BaseModel] = model
    for position, part in enumerate(location):
        current = _model_in(annotation)
        if current is not None and isinstance(part, str):
            if current is not annotation and (part == current.__name__ or "[" in part):
                continue
            owner = current
            if part in current.model_fields:
                annotation = current.model_fields[part].annotation
            elif position < len(location) - 1:
                continue
        elif isinstance(part, str) and not _is_mapping(annotation):
            if part.startswith("dict["):
                annotation = next((arm for arm in get_args(annotation) if _is_mapping(arm)), annotation)
            continue
        elif _is_mapping(annotation) or _is_list(annotation):
            annotation = _item(annotation)
        kept.append(part)
    return kept, owner


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Return a table's model, also where something else may stand in the table's place."""
    arms = get_args(annotation) if get_origin(annotation) in UNIONS else [annotation]
    models = [arm for arm in arms if isinstance(arm, type) and issubclass(arm, BaseModel)]
    return models[0] if models else None


def _bare(annotation: Any) -> Any:
    """Take the constraints off a type."""
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _is_list(annotation: Any) -> bool:
    annotation = _bare(annotation)
    return get_origin(annotation) is list or any(get_origin(_bare(arm)) is list for arm in get_args(annotation))


def _is_mapping(annotation: Any) -> bool:
    return get_origin(_bare(annotation)) is dict


def _item(annotation: Any) -> Any:
    annotation = _bare(annotation)
    if get_origin(annotation) in UNIONS:
        annotation = _bare(next((arm for arm in get_args(annotation) if get_origin(_bare(arm)) is list), annotation))
    arguments = get_args(annotation)
    return arguments[-1] if arguments else Any


def _sentence(details: Iterable[tuple[Any, type[BaseModel]]]) -> str:
    wanted: list[str] = []
    found = ""
    for detail, owner in details:
        kind, context = detail["type"], detail.get("ctx", {})
        name = str(detail["loc"][-1])
        if kind == "extra_forbidden":
            return f"unknown key{suggestion(name, owner.model_fields)}"
        if kind == "missing":
            table = f"; a suite needs at least one [[{name}]] table" if name in ("datasets", "methods") else ""
            return f"missing{table or '; add ' + name + ' = …'}"
        if kind == "too_short" and context.get("min_length") == 1:
            return "found an empty list, expected at least one item"
        found = f"found {_shown(detail['input'])}"
        wanted.append(_wanted(detail))
    return f"{found}, expected {' or '.join(dict.fromkeys(wanted))}"


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python refuses to write whole numbers of more than 4,300 digits
        text = "a number of thousands of digits"
    return f"{text if len(text) <= 60 else text[:57] + '…'} ({_type_name(value)})"


def _type_name(value: Any) -> str:
    names = {
        bool: "true/false",
        int: "a whole number",
        float: "a number",
        str: "a text",
        list: "a list",
        dict: "a table",
    }
    return names.get(type(value), type(value).__name__)


def _wanted(detail: Any) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    plain = {
        "string_type": "a text",
        "int_type": "a whole number",
        "float_type": "a number",
        "bool_type": "true or false",
        "list_type": "a list",
        "dict_type": "a table",
        "model_type": "a table",
    }
    if kind in plain:
        return plain[kind]
    if kind == "literal_error":
        return str(context["expected"])
    if kind == "string_pattern_mismatch":
        if "a-z0-9" in str(context.get("pattern")):
            return "lower-case letters, digits and single hyphens"
        return "a text without blanks at its ends"
    if kind in ("string_too_short", "too_short"):
        return f"at least {context['min_length']} {'character' if 'string' in kind else 'entry'}"
    message = str(detail["msg"])
    return message.removeprefix("Input should be ").removeprefix("Value error, ")
