"""From a spec to an object: import its factory or loader, check parameters, and call it."""

from __future__ import annotations

import importlib
import inspect
import shlex
import sys
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from importlib.util import find_spec
from typing import Any

from mfbench.base.text import listing
from mfbench.errors import PluginError, UnknownNameError, plugin_code
from mfbench.host.expressions import Expression, Registered
from mfbench.host.probes import shown
from mfbench.model.evaluation import MetricSpec
from mfbench.model.specs import DatasetSpec, EstimatorSpec, SelectorSpec

ANY = "**"  # stands for arbitrary further parameters
SAMPLE_WEIGHT = "sample_weight"  # the parameter for sample weights, as in scikit-learn


def import_object(reference: str) -> Any:
    """Import ``package.module`` or ``package.module:attribute``."""
    module, _, attribute = reference.partition(":")
    value: Any = importlib.import_module(module)
    for part in attribute.split(".") if attribute else ():
        value = getattr(value, part)
    return value


def resolve_factory(registered: Registered) -> Any:
    """Import a spec's factory or loader."""
    target = registered.target
    if isinstance(target, str):
        place = f"{registered.title!r} of {registered.plugin} cannot be imported from {target!r}"
        with plugin_code(PluginError, f"{place}:", passing=()):
            target = import_object(target)
    if not callable(target):
        raise PluginError(f"{registered.title!r} of {registered.plugin}: {shown(target)} is not callable")
    return target


def takes_rows(target: Any) -> bool:
    """Return whether an object is a selecting function ``f(X, y)`` rather than a builder of selectors."""
    names = list(inspect.signature(target).parameters) if inspect.isroutine(target) else []
    return [name.lower() for name in names[:2]] == ["x", "y"]


def parameter_names(registered: Registered) -> list[str]:
    """Return the parameters that a spec's factory or loader accepts, in order."""
    # For a function with `**kwargs`, these are the parameters of the estimator that it returns. A class named by import
    # path may accept undocumented parameters through `**kwargs`; the list then contains `**`. A function `f(X, y)` has
    # the parameters after `y`. A dataset without a loader has none.
    if isinstance(registered.spec, DatasetSpec) and not registered.spec.embedded:
        return []
    if registered.prober is not None:
        return list(registered.prober.facts(registered).parameters)
    target = resolve_factory(registered)
    with _explained(registered, "has no readable signature"):
        signature = inspect.signature(target)
    takes_any = any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values())
    named = [n for n, p in signature.parameters.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    if isinstance(registered.spec, MetricSpec):
        named = [name for name in named[2 if registered.spec.needs == "labels" else 1 :] if name != SAMPLE_WEIGHT]
        return named + [ANY] * takes_any
    if registered.plugin.declared is not None and (inspect.isclass(target) or takes_rows(target)):
        return named[2 if takes_rows(target) else 0 :] + [ANY] * takes_any
    # A dataset's loader is not called to learn its parameters: that would load the data.
    if takes_any and isinstance(registered.spec, EstimatorSpec):
        with _explained(registered, "cannot be built without parameters"):
            instance = target(**registered.spec.defaults)
            if hasattr(instance, "get_params"):
                return [str(name) for name in instance.get_params(deep=False)]
    return named


def takes_numbers(registered: Registered, params: Mapping[str, Any] | None = None) -> bool:
    """Return whether a selector is fitted on numbers, by its spec or else by scikit-learn's tags."""
    spec = registered.spec
    assert isinstance(spec, SelectorSpec)
    if spec.targets:
        return spec.targets == "numbers"
    if registered.prober is not None:
        if registered.plugin.declared is not None:
            return registered.prober.tried(registered, params or {}).takes_numbers
        return registered.prober.facts(registered).takes_numbers
    from sklearn.utils import get_tags

    with _explained(registered, "cannot be built without parameters"):
        estimator = build(registered, params or {})
        return hasattr(estimator, "__sklearn_tags__") and get_tags(estimator).estimator_type == "regressor"


def is_for_two_classes(registered: Registered) -> bool:
    """Return whether a classifier supports two classes only, by scikit-learn's tags."""
    if registered.prober is not None:
        return registered.prober.facts(registered).is_for_two_classes
    tags = getattr(_tags(registered), "classifier_tags", None)
    return tags is not None and not tags.multi_class


def takes_sparse(registered: Registered) -> bool:
    """Return whether a method accepts sparse features, by scikit-learn's tags."""
    if registered.prober is not None:
        return registered.prober.facts(registered).takes_sparse
    tags = getattr(_tags(registered), "input_tags", None)
    return tags is not None and bool(tags.sparse)


def _tags(registered: Registered) -> Any:
    """Return the tags of a method; None if it has none or cannot be built, which a trial reports."""
    from sklearn.utils import get_tags

    try:
        return get_tags(build(registered, {}))
    except Exception:  # noqa: BLE001 - whatever a constructor raises
        return None


def has_weights(function: Any) -> bool:
    """Return whether a function, or the fit of an estimator, has a parameter for sample weights."""
    try:
        return SAMPLE_WEIGHT in inspect.signature(function).parameters
    except (TypeError, ValueError):  # no function, or compiled code without a signature
        return False


def accepts_weights(estimator: Any) -> bool:
    """Return whether the fit of an estimator, or of the one in an adapter, accepts sample weights."""
    from mfbench.host.adapter import Adapted, FunctionSelector

    inner = estimator.estimator if isinstance(estimator, Adapted) else estimator
    return inner.accepts_weights if isinstance(inner, FunctionSelector) else has_weights(getattr(inner, "fit", None))


def takes_weights(registered: Registered) -> bool:
    """Return whether a metric or the fits of a method accept sample weights."""
    if registered.prober is not None:
        return registered.prober.facts(registered).takes_weights
    target = resolve_factory(registered)
    if isinstance(registered.spec, MetricSpec):
        return registered.spec.needs != "labels" or has_weights(target)
    try:
        return accepts_weights(target if inspect.isclass(target) else build(registered, {}))
    except Exception:  # noqa: BLE001 - a trial reports a failing constructor
        return False


def _explained(registered: Registered, what: str) -> AbstractContextManager[None]:
    """Turn any exception of a factory into one sentence."""
    name = f"{registered.title!r} of {registered.plugin}"
    return plugin_code(PluginError, f"{name} {what}:")


def check_parameters(registered: Registered, names: Iterable[str]) -> None:
    """Raise `UnknownNameError` for the first name that is not a parameter of the factory or loader."""
    allowed = parameter_names(registered)
    for name in names:
        if name not in allowed and ANY not in allowed:
            raise UnknownNameError("parameter", name, allowed, owner=repr(registered.title))


def path_of(registered: Registered, params: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the path of a selector or classifier, or None if it has none with these parameters."""
    path: tuple[str, str] | None = getattr(registered.spec, "path", None)
    if path is None:
        return None
    try:
        estimator = build(registered, params)
    except Exception:  # noqa: BLE001 - a trial reports what the factory rejects
        return path
    return path if hasattr(estimator, path[1]) else None


def missing_packages(spec: EstimatorSpec) -> list[str]:
    """Return the packages that a fit needs and that are not installed, by module name."""
    return [name for name in spec.requires if sys.modules.get(name) is None and find_spec(name) is None]


def remedy(registered: Registered) -> str:
    """Return the command that installs a method's or executor's requirements, or where to look."""
    spec = registered.spec
    packages = spec.install or (" ".join(spec.requires) if isinstance(spec, EstimatorSpec) else "")
    return f"pip install {shlex.quote(packages)}" if packages else f"see {registered.plugin}"


def check_requirements(registered: Registered) -> None:
    """Reject a method whose fit would import packages that are not installed."""
    missing = missing_packages(registered.spec)
    if missing:
        number = "the package" if len(missing) == 1 else "the packages"
        raise PluginError(f"{registered.title!r} needs {number} {listing(missing)}: {remedy(registered)}")


def build(registered: Registered, params: Mapping[str, Any]) -> Any:
    """Call a spec's factory or loader with its defaults and `params`, after checking the parameter names."""
    check_parameters(registered, params)
    if isinstance(registered.spec, EstimatorSpec):
        check_requirements(registered)
    target = resolve_factory(registered)
    values = _built({**getattr(registered.spec, "defaults", {}), **params})
    declared = registered.plugin.declared
    if declared is None or declared.kind != "selector":
        return target(**values)
    from mfbench.host.adapter import Adapted, FunctionSelector

    return Adapted(FunctionSelector(target, values) if takes_rows(target) else target(**values))


def _built(value: Any) -> Any:
    """Return a parameter's value; an expression becomes its object, or a function if it has no parameters."""
    if isinstance(value, Expression):
        target = import_object(value.name)
        return target(**_built(value.params)) if inspect.isclass(target) or value.params else target
    if isinstance(value, list | tuple):
        return type(value)(map(_built, value))
    return {name: _built(item) for name, item in value.items()} if isinstance(value, dict) else value
