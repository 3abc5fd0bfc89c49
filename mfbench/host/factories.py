"""From a spec to an object: importing its factory or loader, checking parameters, and calling it."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import Any

from mfbench.errors import PluginError, UnknownNameError
from mfbench.host.registered import Registered
from mfbench.models import DatasetSpec, EstimatorSpec


def import_object(reference: str) -> Any:
    """Import ``package.module`` or ``package.module:attribute``."""
    module, _, attribute = reference.partition(":")
    value: Any = importlib.import_module(module)
    for part in attribute.split(".") if attribute else ():
        value = getattr(value, part)
    return value


def resolve_factory(registered: Registered) -> Any:
    """Import what a spec's factory or loader names.

    Raises
    ------
    PluginError
        If it cannot be imported or is not callable; the message names the package of the plugin.
    """
    spec = registered.spec
    target = spec.loader if isinstance(spec, DatasetSpec) else spec.factory
    if isinstance(target, str):
        try:
            target = import_object(target)
        except Exception as error:
            raise PluginError(
                f"{spec.name!r} of {registered.plugin} cannot be imported from {target!r}: "
                f"{type(error).__name__}: {error}"
            ) from error
    if not callable(target):
        raise PluginError(f"{spec.name!r} of {registered.plugin}: {target!r} is not callable")
    return target


def parameter_names(registered: Registered) -> list[str]:
    """Return the parameters that the factory or loader of a spec accepts, in order.

    Notes
    -----
    If the factory is a function with ``**kwargs``, the parameters are those of the estimator that it returns. A dataset
    without a loader has no parameters.
    """
    import inspect

    if isinstance(registered.spec, DatasetSpec) and not registered.spec.embedded:
        return []
    target = resolve_factory(registered)
    signature = inspect.signature(target)
    takes_any = any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values())
    # The loader of a dataset is not called to learn its parameters: that would load the data.
    if takes_any and isinstance(registered.spec, EstimatorSpec):
        instance = target(**getattr(registered.spec, "defaults", {}))
        if hasattr(instance, "get_params"):
            return list(instance.get_params(deep=False))
    return [name for name, p in signature.parameters.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]


def check_parameters(registered: Registered, names: Iterable[str]) -> None:
    """Raise `UnknownNameError` for the first name that is not a parameter of the factory or loader."""
    allowed = parameter_names(registered)
    for name in names:
        if name not in allowed:
            raise UnknownNameError("parameter", name, allowed, owner=repr(registered.spec.name))


def build(registered: Registered, params: Mapping[str, Any]) -> Any:
    """Call the factory or loader of a spec with its defaults and `params`, after checking their names."""
    check_parameters(registered, params)
    target = resolve_factory(registered)
    return target(**{**getattr(registered.spec, "defaults", {}), **params})
