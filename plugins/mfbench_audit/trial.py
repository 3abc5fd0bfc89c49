"""The protocol ``audit``: a selector's error in each round of generated data, in the unit of its promise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mfbench.errors import SuiteError
from mfbench.host.factories import parameter_names
from mfbench.host.registry import Registry
from mfbench.model.specs import SelectorSpec
from mfbench.model.trials import Status, Trial, TrialResult
from mfbench.run.trial.folds import Fold
from mfbench.suite.loading import SuiteLocation
from mfbench.suite.methods import ResolvedMethod
from mfbench.suite.schema import Method, ProtocolSettings
from mfbench_audit.designs import CORRELATED
from mfbench_audit.protocol import AUDIT_SCORES
from mfbench_protocols.detection import DetectionRunner, RoundFold, resolve_detector
from mfbench_protocols.splits import GroundTruth

_ONE_MINUS = "1 - "


class Audit(GroundTruth):
    """``audit``: selectors with a promised error rate are fitted on generated data, and their errors counted."""

    kind = "audit"

    def __init__(self, rounds: int, seed: int) -> None:
        super().__init__(rounds, 0.0, seed)


def resolve_audited(
    method: Method, location: SuiteLocation, registry: Registry, protocol: ProtocolSettings, home: str
) -> ResolvedMethod:
    """Resolve a selector that promises an error rate."""
    resolved = resolve_detector(method, location, registry, protocol, home)
    step = resolved.selector
    if step is None or not registry.entry("selector", step.expression.name).spec.controls:
        raise SuiteError(
            f"{location}: {method.label!r} promises no error rate that could be audited: its spec declares no "
            "'controls'; wrap it, as in permuted-target(selector=package.module:Class()), or audit a selector that does"
        )
    if method.top != "positive":
        raise SuiteError(f"{location.key('top')}: an audit counts what the selector itself selects; leave it out")
    registered = registry.entry("selector", step.expression.name)
    if _parameter(registered.spec) not in parameter_names(registered):
        raise SuiteError(
            f"{location}: selector {step.title!r} controls {tuple(registered.spec.controls)}, but has no parameter "
            f"{_parameter(registered.spec)!r}"
        )
    return resolved


def promise_of(name: str, estimator: object, registry: Registry) -> tuple[str, float, bool]:
    """Return the error rate that a selector promises, its bound, and whether irrelevant means independent."""
    spec = registry.entry("selector", name).spec
    rate, parameter, *more = spec.controls
    key = _parameter(spec)
    bound = float(estimator.get_params(deep=False)[key])  # type: ignore[attr-defined]
    return rate, 1.0 - bound if key != parameter else bound, bool(more)


def _parameter(spec: SelectorSpec) -> str:
    """Return the parameter with the promised bound, or with 1 minus it."""
    return spec.controls[1].removeprefix(_ONE_MINUS)


class AuditRunner(DetectionRunner):
    """Runs trials of audits."""

    def run(self, trial: Trial, method: ResolvedMethod, fold: Fold) -> TrialResult:
        """Fit a selector to a round, and count its errors."""
        result = super().run(trial, method, fold)
        if result.status is Status.OK and result.selected is not None:
            assert isinstance(fold, RoundFold) and method.selector is not None
            name = method.selector.expression.name
            estimator = self.registry.make(method.selector.expression, "selector")
            rate, bound, marginal = promise_of(name, estimator, self.registry)
            selected = np.isin(fold.order, result.selected)
            own = error_scores(selected, fold, rate, marginal=marginal) | {"promise": bound}
            result.scores = dict.fromkeys(AUDIT_SCORES, np.nan) | own
        return result


def error_scores(selected: NDArray[np.bool_], fold: RoundFold, rate: str, *, marginal: bool) -> dict[str, float]:
    """Return the error of a round, and the share of relevant features that were selected.

    Parameters
    ----------
    selected : ndarray of bool, shape (n_features,)
    fold : RoundFold
    rate : {"fdr", "fwer", "pfer", "fpr"}
        The error is the share of false selections among all, whether there is any, their number, or their share of
        the irrelevant features.
    marginal : bool
        Whether features that are correlated with relevant ones count as relevant.
    """
    relevant = np.isin(np.arange(len(selected)), fold.relevant)
    spared = relevant.copy()
    if marginal:
        spared |= np.array([name.startswith(CORRELATED) for name in fold.columns.names])
    false = int((selected & ~spared).sum())
    errors = {
        "fdr": false / max(1, int(selected.sum())),
        "fwer": float(false > 0),
        "pfer": float(false),
        "fpr": false / max(1, int((~spared).sum())),
    }
    hits = int((selected & relevant).sum())
    return {rate: errors[rate], "power": hits / relevant.sum() if relevant.any() else np.nan}
