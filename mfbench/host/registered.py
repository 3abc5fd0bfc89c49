"""The nouns of the registry: a plugin, and a spec together with the plugin that registered it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mfbench.host.probes import Prober


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
    is_object : bool
        Whether it was handed over as an object, which other processes cannot load.
    """

    name: str
    module: str
    distribution: str = ""
    version: str = ""
    is_object: bool = field(default=False, compare=False)

    @property
    def package(self) -> str:
        """The name behind the ``@`` of a registered name: the distribution, or the plugin if it is not installed."""
        return self.distribution or self.name

    def __str__(self) -> str:
        return f"{self.distribution} {self.version} ({self.module})" if self.distribution else self.module


@dataclass(frozen=True)
class Registered:
    """A spec and the plugin that registered it.

    Attributes
    ----------
    spec : SelectorSpec, ClassifierSpec or DatasetSpec
    plugin : Plugin
    prober : Prober or None
        Answers what is asked about the factory without importing it here; None if it is imported here.
    """

    spec: Any
    plugin: Plugin
    prober: Prober | None = field(default=None, compare=False, repr=False)
