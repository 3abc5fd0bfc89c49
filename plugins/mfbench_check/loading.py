"""Load the plugins of a check run; one that crashes or blocks the importing process is reported instead."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

from mfbench.host.discovery import chosen_plugins
from mfbench.host.expressions import Plugin
from mfbench.host.probes import memory_limit
from mfbench.host.registry import HOST, Registry, load_registry
from mfbench.processes.call import ChildError, call
from mfbench_check.catalog import PRELOADED, SPECS

_VISIT = f"{__name__}:visit"
_AT_ONCE = 4  # maximum number of concurrent child processes that import plugins


def load_for_checks(seconds: float, *, strict: bool = False) -> Registry:
    """Load the installed plugins, importing third-party ones in a child process first."""
    plugins = chosen_plugins(None)
    foreign = [plugin for plugin in plugins if plugin.distribution != HOST]
    if foreign:
        call("os:getpid", preload=PRELOADED)  # do not count shared imports as a plugin's time
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        reasons = dict(zip(foreign, pool.map(lambda plugin: _danger(plugin, seconds), foreign), strict=True))
    harmless = [plugin for plugin in plugins if not reasons.get(plugin)]
    registry = load_registry(exactly=harmless, isolated=True, strict=strict)
    for plugin, reason in reasons.items():
        if reason:
            registry.problems.add(plugin, f" cannot be imported: {reason}")
    return registry


def _danger(plugin: Plugin, seconds: float) -> str:
    """Return why this process must not import a plugin; "" if it may, even if the import raises an exception."""
    try:
        call(_VISIT, plugin, timeout=seconds, memory=memory_limit(), path=sys.path, preload=PRELOADED)
    except ChildError as error:
        return str(error)
    return ""


def visit(plugin: Plugin) -> None:
    """Import a plugin and call its hooks; runs in a child process."""
    registry = load_registry(exactly=[plugin])
    for kind in SPECS:
        registry.listed(kind)
    registry.suites()
