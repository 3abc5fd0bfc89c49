"""Whose code runs in a worker: the distributions of a trial, and the plugins that its worker loads.

A method may replace code that others use. So a worker serves trials of one set of distributions only and loads no
plugin of another. The built-in plugins are trusted and belong to no set.
"""

from __future__ import annotations

from collections.abc import Iterable

from mfbench.host.code_hashes import HOST
from mfbench.host.registered import Plugin
from mfbench.host.registry import Registry
from mfbench.suite.methods import ResolvedMethod

# Names of third-party distributions; modules without a distribution count as one of their own.
Owners = frozenset[str]
BUILT_IN: Owners = frozenset()


def owners_of_plugin(plugin: Plugin) -> Owners:
    """Return the distribution of a plugin, nothing for a built-in one."""
    if not plugin.distribution:
        return frozenset([f"module {plugin.module}"])
    return BUILT_IN if plugin.distribution == HOST else frozenset([plugin.distribution])


def owners_of_method(method: ResolvedMethod, registry: Registry) -> Owners:
    """Return the distributions that a method's selector and classifier come from, with their parts."""
    steps = {"selector": method.selector, "classifier": method.classifier}
    entries = [e for kind, step in steps.items() if step is not None for e in registry.entries(kind, step.expression)]
    return BUILT_IN.union(*(owners_of_plugin(entry.plugin) for entry in entries))


def code_of_methods(methods: Iterable[ResolvedMethod], registry: Registry) -> list[str]:
    """Return whose code methods run: distributions with the packages of their classes, and import paths."""
    packages: dict[str, set[str]] = {}
    for method in methods:
        for step, find in ((method.selector, registry.selector), (method.classifier, registry.classifier)):
            if step is None:
                continue
            registered = find(step.expression.name)
            plugin, factory = registered.plugin, registered.spec.factory
            if plugin.declared is not None:
                packages.setdefault(f"{plugin.declared.reference} by its import path", set())
                continue
            name = f"{plugin.distribution} {plugin.version}" if plugin.distribution else f"module {plugin.module}"
            module = factory if isinstance(factory, str) else factory.__module__
            packages.setdefault(name, set()).add(module.partition(":")[0].partition(".")[0])
    return [f"{name} ({', '.join(sorted(roots))})" if roots else name for name, roots in sorted(packages.items())]


def visible(plugins: Iterable[Plugin], owners: Owners) -> list[Plugin]:
    """Return the plugins that a worker for a set of distributions loads: theirs, and the built-in ones."""
    return [plugin for plugin in plugins if owners_of_plugin(plugin) <= owners]
