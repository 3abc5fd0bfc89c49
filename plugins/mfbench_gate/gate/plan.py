"""The plan of a gate: which trials are timed on both sides, and as which cells they are judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mfbench.data.lookup import Lookup
from mfbench.errors import NothingPlannedError, SuiteError
from mfbench.host.expressions import is_reference, parse
from mfbench.host.registry import Registry
from mfbench.model.trials import Trial
from mfbench.suite.forms import KINDS
from mfbench.suite.loading import LoadedSuite
from mfbench.suite.plan import Plan, plan_datasets
from mfbench.suite.seeds import derive_seed
from mfbench_gate.comparison import Place
from mfbench_gate.gate.replicate import UNTIMED, methods_of


@dataclass(frozen=True)
class TimedCell:
    """Trials whose costs are judged together."""

    place: Place
    trials: tuple[Trial, ...]  # pairs of measurements take them in turns

    @property
    def name(self) -> str:
        """Method, dataset and size."""
        return self.place.name


@dataclass(frozen=True)
class GatePlan:
    """What a gate measures."""

    suite: Plan  # datasets and protocol, and the methods as written; each side looks them up for itself
    cells: tuple[TimedCell, ...]


def plan_gate(
    loaded: LoadedSuite, registry: Registry, only: Sequence[str] = (), lookup: Lookup | None = None
) -> GatePlan:
    """Return what a gate measures."""
    plan = plan_datasets(loaded, registry, only, lookup)
    if not plan.datasets:
        reasons = "; ".join(f"{label}: {reason}" for label, reason in plan.left_out.items())
        raise NothingPlannedError(f"no dataset of {loaded.suite.suite.name!r} can be used ({reasons})")
    methods = _measurable(plan, registry)
    return GatePlan(
        plan, tuple(cell for label in plan.datasets for method in methods for cell in _cells(plan, label, method))
    )


def _measurable(plan: Plan, registry: Registry) -> list[str]:
    """Return the methods that a gate can measure; those that are not known here may be known to a side."""
    loaded = plan.loaded
    labels = [method.label for method in loaded.suite.methods]
    for method in loaded.suite.methods:
        names = [parse(text, references=True).name for text in (method.selector, method.classifier) if text is not None]
        if method.label not in loaded.added_methods and any(map(is_reference, names)):
            raise SuiteError(
                f"{loaded.path}: {method.label!r} names a class by its import path, but a suite names only what "
                "plugins register; to measure the class, use --add"
            )
    resolved, _ = methods_of(loaded, registry)
    plan.left_out |= {label: UNTIMED for label, one in resolved.items() if one.grid and one.selection == "per-dataset"}
    if not (measurable := [label for label in labels if label not in plan.left_out]):
        raise SuiteError(
            f"{loaded.path}: each of its methods is tuned per dataset, so no trial fits the method that is tested; "
            "choose another profile, or set selection = 'nested'"
        )
    return measurable


def _cells(plan: Plan, dataset: str, method: str) -> Iterator[TimedCell]:
    """Yield one cell for each size of the protocol ``timing``, and one for all folds of any other."""
    protocol, seed = plan.protocol, plan.loaded.suite.suite.seed
    trials = [
        Trial("", dataset, method, repeat, fold, derive_seed(seed, dataset, method, repeat, fold))
        for repeat, fold in protocol.coordinates()
    ]
    if not KINDS[protocol.kind].times:
        yield TimedCell(Place(method, dataset), tuple(trials))
        return
    data = plan.datasets[dataset].data
    splits = protocol.splits(dataset, data.y, 0)
    for fold, split in enumerate(splits):
        features = split.features(data.n_features)
        size = f"n={len(split.train)}, p={data.n_features if features is None else len(features)}"
        own = tuple(trial for trial in trials if trial.fold == fold)
        yield TimedCell(Place(method, dataset, size), own)
