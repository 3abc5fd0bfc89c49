"""The nouns of the registry: a plugin, and a spec together with the plugin that registered it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol


@dataclass(frozen=True)
class Declaration:
    """A class or function that the user names by its place instead of registering it with a plugin."""

    kind: Literal["selector", "classifier", "part"]  # A part is the value of a parameter of another one
    reference: str  # its place, such as `"my_module:MyClass"`

    @property
    def name(self) -> str:
        """The name under which it is registered: a valid one, and different for different places."""
        digest = hashlib.sha256(self.reference.encode()).hexdigest()[:8]
        return "-".join([*re.findall(r"[a-z0-9]+", self.reference.lower()), digest])


@dataclass(frozen=True)
class Plugin:
    """Where a loaded plugin comes from."""

    name: str  # name of the entry point; of a module listed in `MFBENCH_LOAD_PLUGINS`, the module's name
    module: str  # the module that implements the hooks
    distribution: str = ""  # the installed package that ships it; empty if there is none
    version: str = ""  # version of that package
    # Whether it was handed over as an object, which other processes cannot load.
    is_object: bool = field(default=False, compare=False)
    # What it registers if it is not a plugin of its author: a class that the user names; `module` is that of the class,
    # and is imported only where the class is.
    declared: Declaration | None = None

    @property
    def package(self) -> str:
        """The name behind the ``@`` of a registered name: the distribution, or the plugin if it is not installed."""
        return self.distribution or self.name

    def __str__(self) -> str:
        return f"{self.distribution} {self.version} ({self.module})" if self.distribution else self.module


@dataclass(frozen=True)
class Facts:
    """What the main process knows about a factory."""

    parameters: tuple[str, ...] = ()  # in the order of its signature
    takes_numbers: bool = False  # for selectors: whether it is fitted on numbers
    is_for_two_classes: bool = False  # for classifiers: whether it is for two classes only
    problem: str = ""  # why it cannot be used; empty if it can


class Prober(Protocol):
    """Answers what is asked about a factory without importing it here."""

    def facts(self, registered: Registered) -> Facts:
        """Return the facts about a factory or loader; raise `PluginError` if it cannot be imported."""

    def tried(self, registered: Registered, params: Mapping[str, Any]) -> Facts:
        """Return what fitting a class that a user names, with parameters, on a few rows shows."""


@dataclass(frozen=True)
class Registered:
    """A spec and the plugin that registered it."""

    spec: Any
    plugin: Plugin
    prober: Prober | None = field(default=None, compare=False, repr=False)  # none if the factory is imported here

    @property
    def title(self) -> str:
        """Its name in messages: as a user writes it."""
        return str(self.spec.name) if self.plugin.declared is None else self.plugin.declared.reference
