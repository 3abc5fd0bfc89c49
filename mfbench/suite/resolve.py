"""Looking up the methods and datasets of a suite: every name exists, every parameter belongs to its owner.

Nothing is loaded or fitted here. Every mistake is one sentence with the file and the key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mfbench.data.catalog import FILE_PREFIX, check_reference, column_options, resolve_path, takes_columns
from mfbench.data.lookup import OPENML_SUITE, Lookup
from mfbench.errors import DataError, PluginError, SuiteError, UsageError
from mfbench.host.expressions import parse
from mfbench.host.registry import Registered, Registry, build, check_parameters
from mfbench.models import SelectorSpec
from mfbench.suite.forms import KINDS
from mfbench.suite.loading import LoadedSuite
from mfbench.suite.methods import ResolvedMethod, Step
from mfbench.suite.schema import Method, ProtocolSettings
from mfbench.suite.tuning_grids import resolve_grid, thinned


def resolve_methods(loaded: LoadedSuite, registry: Registry) -> tuple[dict[str, ResolvedMethod], dict[str, str]]:
    """Look up and check the methods of a suite; every mistake names the file and the key.

    Returns
    -------
    resolved : dict of str to ResolvedMethod
    left_out : dict of str to str
        Methods that cannot be imported, each with the reason. With a strict registry that is an error.
    """
    resolved: dict[str, ResolvedMethod] = {}
    left_out: dict[str, str] = {}
    resolve = _RESOLVERS[KINDS[loaded.protocol.kind].task]
    for position, method in enumerate(loaded.suite.methods):
        location = f"{loaded.path}: methods[{position}]"
        try:
            resolved[method.label] = resolve(method, location, registry, loaded.protocol)
        except PluginError as error:
            if registry.strict:
                raise
            left_out[method.label] = str(error)
    return resolved, left_out


def _resolve_predictor(method: Method, location: str, registry: Registry, protocol: ProtocolSettings) -> ResolvedMethod:
    """Look up a method of a protocol that predicts: a classifier, and possibly a selector before it."""
    _check_tuning(method, location, protocol.kind)
    assert method.classifier is not None  # loading the suite has refused a method without one
    if method.top == "relevant":
        raise SuiteError(f"{location}.top: only the protocol 'ground-truth' knows how many features are relevant")
    classifier = _resolve_step(method.classifier, registry.classifier, f"{location}.classifier")
    selector = None
    if method.selector is not None:
        selector = _resolve_step(method.selector, registry.selector, f"{location}.selector")
    elif "top" in method.model_fields_set:
        raise SuiteError(f"{location}.top: 'top' needs a selector; add selector = … or leave it out")
    if method.selection is not None and method.tune is None:
        raise SuiteError(
            f"{location}.selection: 'selection' needs something to choose from; add tune = … or leave it out"
        )
    registered = {"classifier": registry.classifier(classifier.expression.name)}
    if selector is not None:
        registered["selector"] = registry.selector(selector.expression.name)
    grid = resolve_grid(method, registered, f"{location}.tune")
    if protocol.grid_values is not None:
        grid = tuple((owner, name, thinned(values, protocol.grid_values)) for owner, name, values in grid)
    top = "all" if selector is None else method.top
    # Without a grid nothing is chosen: the setting must not make two equal methods different.
    selection = (method.selection or protocol.selection or "nested") if grid else "nested"
    return ResolvedMethod(method.label, selector, classifier, top, grid, selection)


def _check_tuning(method: Method, location: str, kind: str) -> None:
    """Refuse what the protocol cannot do, such as a choice by the outer folds if it has a validation part."""
    if method.tune is not None and not KINDS[kind].tunes:
        raise SuiteError(
            f"{location}.tune: the protocol {kind!r} measures single fits and tunes nothing; set parameters in the "
            "expression"
        )
    if method.selection is not None and "selection" not in KINDS[kind].sound:
        raise SuiteError(f"{location}.selection: the protocol {kind!r} chooses in its own way; leave 'selection' out")


def _resolve_detector(method: Method, location: str, registry: Registry, protocol: ProtocolSettings) -> ResolvedMethod:
    """Look up a method of the protocol ``ground-truth``: a selector, or a classifier that weighs features."""
    if (method.selector is None) == (method.classifier is None):
        raise SuiteError(
            f"{location}: the protocol 'ground-truth' predicts nothing: give either a selector, or a classifier that "
            "weighs features"
        )
    if method.tune is not None or method.selection is not None:
        key = "tune" if method.tune is not None else "selection"
        raise SuiteError(
            f"{location}.{key}: the protocol 'ground-truth' predicts nothing that could choose; set the parameters in "
            "the selector"
        )
    if method.top == "all-weighted":
        raise SuiteError(f"{location}.top: 'all-weighted' is for classifiers; the protocol 'ground-truth' has none")
    if method.selector is not None:
        step = _resolve_step(method.selector, registry.selector, f"{location}.selector")
        numbers = takes_numbers(registry.selector(step.expression.name))
        return ResolvedMethod(method.label, replace(step, numbers=numbers), None, method.top)
    step = _resolve_step(method.classifier or "", registry.classifier, f"{location}.classifier")
    return ResolvedMethod(method.label, None, step, method.top)


# By the task of a protocol's kind.
_RESOLVERS: dict[str, Callable[[Method, str, Registry, ProtocolSettings], ResolvedMethod]] = {
    "prediction": _resolve_predictor,
    "detection": _resolve_detector,
}


def takes_numbers(registered: Registered) -> bool:
    """Return whether a selector is fitted on numbers, according to its spec or else to scikit-learn's tags."""
    spec = registered.spec
    assert isinstance(spec, SelectorSpec)
    if spec.targets:
        return spec.targets == "numbers"
    from sklearn.utils import get_tags

    estimator = build(registered, {})
    return hasattr(estimator, "__sklearn_tags__") and get_tags(estimator).estimator_type == "regressor"


def _resolve_step(text: str, lookup: Callable[[str], Registered], location: str) -> Step:
    try:
        expression = parse(text)
        registered = lookup(expression.name)
        check_parameters(registered, expression.params)
    except UsageError as error:
        raise SuiteError(f"{location}: {error}") from None
    spec = registered.spec
    return Step(expression, spec.raw_input, path=spec.path) if isinstance(spec, SelectorSpec) else Step(expression)


@dataclass(frozen=True)
class Reference:
    """A dataset as a suite names it.

    Attributes
    ----------
    text : str
        Name, expression, ``file:PATH`` or a repository's number.
    target, categorical : optional
        For files and repositories: the label column, and the columns that hold categories.
    folder : Path
        The suite file's folder; relative paths start there.
    place : str
        File and key, for messages.
    """

    text: str
    target: str | None
    categorical: Sequence[str] | None
    folder: Path
    place: str


def resolve_datasets(loaded: LoadedSuite, registry: Registry, lookup: Lookup | None = None) -> dict[str, Reference]:
    """Check the names of a suite's datasets, without loading them.

    The label in tables is the reference itself; of a file it is the last part of its path, if no other file has it. An
    OpenML suite stands for its datasets; one whose list is not at hand stays as it is, to be left out with the reason.
    """
    folder = loaded.path.resolve().parent
    lookup = lookup or Lookup()
    files = {text for group in loaded.suite.datasets for text in group.use if text.startswith(FILE_PREFIX)}
    short = {text: Path(text.removeprefix(FILE_PREFIX)).name for text in files}
    names = Counter(short.values())
    found: dict[str, Reference] = {}
    seen: dict[str, str] = {}
    for position, group in enumerate(loaded.suite.datasets):
        for index, text in enumerate(group.use):
            place = f"{loaded.path}: datasets[{position}].use[{index}]"
            if (group.target is not None or group.categorical is not None) and not takes_columns(text):
                raise SuiteError(f"{place}: {column_options(text)}")
            try:
                check_reference(text, registry, folder)
            except UsageError as error:
                raise SuiteError(f"{place}: {error}") from None
            label = short[text] if text in files and names[short[text]] == 1 else text
            same = _canonical(text, folder)
            if same in seen:
                also = "" if seen[same] == text else f", also as {seen[same]!r}"
                raise SuiteError(f"{place}: {text!r} is listed twice{also}")
            seen[same] = text
            reference = Reference(text, group.target, group.categorical, folder, place)
            if text.startswith(OPENML_SUITE):
                for member in _expand(reference, lookup):
                    found.setdefault(member.text, member)
            else:
                found[label] = reference
    return found


def _canonical(text: str, folder: Path) -> str:
    """Return what two spellings of one dataset have in common."""
    if text.startswith(FILE_PREFIX):
        return str(resolve_path(text, folder).resolve())
    return text if ":" in text else parse(text).canonical()


def _expand(reference: Reference, lookup: Lookup) -> list[Reference]:
    """Return the datasets of an OpenML suite, or the suite itself if its list cannot be had."""
    try:
        return [replace(reference, text=text) for text in lookup.suite(reference.text)]
    except DataError:
        return [reference]
