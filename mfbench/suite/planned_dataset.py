"""A dataset of a plan: the class that plans, published figures and runs share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mfbench.data.reference import RegisteredReference
from mfbench.model.specs import Dataset
from mfbench.suite.schema import Classes


@dataclass(frozen=True)
class PlannedDataset:
    """A dataset as the trials see it (classes restricted), with its label in tables, content hash and collections."""

    # If every round generates its own data, `reference` names the generator, and `data` is an example with the truth
    # and its columns in canonical order. `location` is where it came from, as in `mfbench.data.lookup.LoadedDataset`.
    # `classes` is the rule by which classes are kept, and `dropped` has the rows of the others by class.

    label: str
    data: Dataset
    sha256: str
    collections: Mapping[str, str] = field(default_factory=dict)
    reference: RegisteredReference | None = None
    location: str = ""
    classes: Classes = "all"
    dropped: Mapping[str, int] = field(default_factory=dict)
