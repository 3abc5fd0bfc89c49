"""The nouns of the registry: a plugin, and a spec together with the plugin that registered it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Plugin:
    """Where a loaded plugin comes from.

    Attributes
    ----------
    name : str
        Name of the entry point; of a module listed in ``MFBENCH_LOAD_PLUGINS``, the module's name.
    module : str
        The module that implements the hooks.
    distribution : str
        The installed package that ships it; empty if there is none.
    version : str
        Version of that package.
    """

    name: str
    module: str
    distribution: str = ""
    version: str = ""

    @property
    def package(self) -> str:
        """The name behind the ``@`` of a registered name: the distribution, or the plugin if it is not installed."""
        return self.distribution or self.name

    def __str__(self) -> str:
        return f"{self.distribution} {self.version} ({self.module})" if self.distribution else self.module


@dataclass(frozen=True)
class Registered:
    """A spec and the plugin that registered it."""

    spec: Any
    plugin: Plugin
