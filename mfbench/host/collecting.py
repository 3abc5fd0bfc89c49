"""Calling the hooks of plugins: each on its own, so that a failure is attributed to its plugin and stays there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pluggy

from mfbench.errors import describe_error
from mfbench.host.containment import contained
from mfbench.host.discovery import Problems
from mfbench.host.registered import Plugin
from mfbench.host.spec_checks import shown, spec_problem
from mfbench.model.sections import Section


@dataclass(frozen=True)
class Hooks:
    """The hooks of the loaded plugins."""

    manager: pluggy.PluginManager
    plugins: Mapping[int, Plugin]  # provenance of every plugin object in the manager, by its `id`
    problems: Problems  # where failures are reported
    isolated: bool  # whether this is the main process, in which a hook must change nothing

    def call(self, hook: str) -> Iterator[tuple[Plugin, Any]]:
        """Yield what each plugin returns from a hook, item by item; one that fails is left out with the reason."""
        for implementation in getattr(self.manager.hook, hook).get_hookimpls()[::-1]:
            plugin = self.plugins[id(implementation.plugin)]
            self.manager.trace("calling", hook, "of", plugin.name)
            try:
                with contained(isolated=self.isolated):
                    values = list(implementation.function())
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - whatever a plugin raises, the others must work
                self.leave_out(plugin, f"{hook} raised {describe_error(error)}", error)
                continue
            for value in values:
                yield plugin, value

    def leave_out(self, plugin: Plugin, reason: str, error: BaseException | None = None) -> None:
        """Report a part of a plugin that is left out."""
        self.problems.add(plugin, f": {reason}", error)

    def report_sections(self, open_run: Callable[[], Any]) -> tuple[list[tuple[Plugin, Section]], list[str]]:
        """Return the sections that plugins add to a report, and a sentence on each plugin that failed."""
        sections: list[tuple[Plugin, Section]] = []
        problems = []
        for implementation in self.manager.hook.mfbench_report_sections.get_hookimpls()[::-1]:
            plugin = self.plugins[id(implementation.plugin)]
            hook: Callable[..., Any] = implementation.function
            try:
                with contained(isolated=self.isolated):
                    returned = list(hook(*([open_run()] if implementation.argnames else [])))
                for section in returned:
                    if not isinstance(section, Section):
                        raise TypeError(f"it returned {shown(section)}, expected Section objects")
                    section.check()
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - a plugin must not keep the report from the reader
                reason = describe_error(error)
                problems.append(f"plugin {plugin.name!r} of {plugin}: mfbench_report_sections failed with {reason}")
                continue
            sections += [(plugin, section) for section in returned]
        return sections, problems


def refusal(spec: object, spec_class: type, kind: str) -> str:
    """Return why what a hook returned cannot be used, "" if it can."""
    try:
        if not isinstance(spec, spec_class):
            return f"mfbench_{kind}s returned {shown(spec)}, expected {spec_class.__name__} objects"
        problem = spec_problem(spec)
        return f"{kind} {shown(spec.name)}: {problem}" if problem else ""  # type: ignore[attr-defined]
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a field may be an object of the plugin that raises anything
        return f"mfbench_{kind}s returned a spec that cannot be checked: {describe_error(error)}"
