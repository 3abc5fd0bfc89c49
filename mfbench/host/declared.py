"""Classes that the user names by their place, such as ``my_module:MyClass``: each is a plugin with a single spec.

So they are checked, isolated and hashed like what plugins register. The class is only imported in child processes.
"""

from __future__ import annotations

from importlib import metadata

from mfbench.errors import UsageError
from mfbench.host import imports, notebooks
from mfbench.host.expressions import is_reference
from mfbench.host.hookspecs import PROJECT, hookimpl
from mfbench.host.registered import Declaration, Plugin
from mfbench.model.specs import ClassifierSpec, SelectorSpec


class DeclaredHooks:
    """The hooks of a plugin with a single spec."""

    def __init__(self, declaration: Declaration) -> None:
        self._declaration = declaration

    @hookimpl
    def mfbench_selectors(self) -> list[SelectorSpec]:
        """Return the selector, if it is one."""
        declaration = self._declaration
        if declaration.kind != "selector":
            return []
        # Whether it compiles code on first use is not known; to assume so costs a fit on a few rows.
        return [SelectorSpec(name=declaration.name, summary="", factory=declaration.reference, warm_up=True)]

    @hookimpl
    def mfbench_classifiers(self) -> list[ClassifierSpec]:
        """Return the classifier, if it is one."""
        declaration = self._declaration
        if declaration.kind != "classifier":
            return []
        return [ClassifierSpec(name=declaration.name, summary="", factory=declaration.reference, warm_up=True)]


def declared_plugin(declaration: Declaration) -> Plugin:
    """Return the plugin for a declaration, with the distribution that its module belongs to."""
    reference = declaration.reference
    module, _, attribute = reference.partition(":")
    if not is_reference(reference):
        raise UsageError(
            f"{reference!r} is not the import path of a class: write MODULE:CLASS, such as 'my_module:MyClass'"
        )
    if module.startswith(notebooks.PREFIX):
        notebooks.make_importable()
    if module == "__main__" or imports.locate(module) is None:
        raise UsageError(
            f"there is no module {module!r} to import {attribute!r} from; install it, for example with 'pip install "
            "-e .' in its project, or name its folder in PYTHONPATH: mfbench does not import from the working directory"
        )
    name, version = _distribution(module.partition(".")[0])
    return Plugin(f"{declaration.kind} {reference}", module, name, version, declared=declaration)


def _distribution(package: str) -> tuple[str, str]:
    """Return name and version of the distribution of a top-level package, "" for a module that is not installed."""
    for entry in metadata.entry_points(group=PROJECT):  # in an editable installation the only link to the package
        if entry.dist is not None and entry.value.partition(":")[0].partition(".")[0] == package:
            return entry.dist.name, entry.dist.version
    names = metadata.packages_distributions().get(package, ())
    return (names[0], metadata.version(names[0])) if names else ("", "")
