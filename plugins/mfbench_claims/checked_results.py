"""A bundle's result, checked: its scores, arrays and documents are those that a trial of its fold can have."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mfbench.model.trials import Candidate, Curve, Interactions, Status, TrialResult
from mfbench.run.store.formats.arrays import unpack
from mfbench.run.store.formats.candidates import unpack_candidates
from mfbench.run.store.formats.curves import unpack_curve
from mfbench.run.store.formats.interactions import unpack_interactions
from mfbench.run.workers.recomputed_scores import Truth, wrong_score
from mfbench.suite.forms import KINDS
from mfbench.suite.schema import ProtocolSettings
from mfbench.suite.scores import CURVE_METRICS, METRICS
from mfbench_claims.archive import RefusedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_OF_SUCCESS = ("scores", "predictions", "decisions", "candidates", "curve")
_TIMES = ("select_wall", "select_cpu", "fit_wall", "fit_cpu", "predict_wall", "predict_cpu")
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Shape:
    """The numbers of a dataset and of the test part of a fold."""

    tested: int  # rows of the test part
    used: int  # features of the fold; the protocol `timing` takes a part of those of the dataset
    features: int  # features, classes: of the dataset
    classes: int


class ResultCheck:
    """Checks results of the protocol of a run."""

    def __init__(self, settings: ProtocolSettings) -> None:
        kind = KINDS[settings.kind]
        self._predicts = kind.predicts
        self._metrics = tuple(name for name in settings.metrics if not (kind.predicts and name in CURVE_METRICS))
        # A round without a true pair has no score of pairs.
        self._required = set(self._metrics) if kind.predicts else set()
        self._of_curve = CURVE_METRICS if kind.draws_curves else ()

    def check(self, row: Mapping[str, Any], shape: Shape, truth: Truth) -> None:
        """Check a row of the table ``trials``."""
        is_ok = row["status"] == Status.OK
        if not is_ok and any(row[name] for name in _OF_SUCCESS):
            raise RefusedError("it failed, and yet has results")
        result = _result_of(row)
        self._check_fit(result, shape)
        _check_decisions(result, shape)
        for candidate in result.candidates:
            self._check_candidate(candidate, shape)
        if result.curve is not None:
            self._check_curve(result.curve, shape)
        is_complete = is_ok and not result.candidates
        self._check_scores(result.scores, () if result.curve is None else self._of_curve, is_complete=is_complete)
        if is_complete and self._predicts and result.predictions is None:
            raise RefusedError("it has no predictions, although it is ok")
        if is_ok:
            try:
                wrong = wrong_score(result, truth, predicts=self._predicts)
            except (ValueError, ArithmeticError) as error:
                raise RefusedError(f"its scores cannot be computed again: {error}") from None
            if wrong:
                raise RefusedError(wrong)

    def _check_scores(self, scores: Any, of_curve: Iterable[str], *, is_complete: bool) -> None:
        """Check the scores of a result or of a grid point."""
        if not isinstance(scores, dict):
            raise RefusedError("its scores have no names")
        for name, value in scores.items():
            if name not in self._metrics and name not in of_curve:
                raise RefusedError("it has a score that its suite does not measure")
            if not _is_number(value):
                raise RefusedError(f"its score {name!r} is not a number")
            self._check_values(name, np.array([value], dtype=np.float64))
        if is_complete and not (scores and self._required <= scores.keys()):
            raise RefusedError("it has not all scores that its suite measures")

    def _check_values(self, name: str, values: NDArray[np.float64]) -> None:
        """Check scores, which may be undefined (NaN)."""
        low, high = self._range_of(name)
        if np.isinf(values).any():
            raise RefusedError(f"its score {name!r} is not a number")
        if ((values < low - _ROUNDING) | (values > high + _ROUNDING)).any():
            raise RefusedError(f"its score {name!r} is not between {low:g} and {high:g}")

    def _range_of(self, name: str) -> tuple[float, float]:
        if not self._predicts:
            return 0.0, 1.0  # all of them are shares
        # An area is a mean of the first score.
        return METRICS[self._metrics[0] if name in CURVE_METRICS else name].range

    def _check_fit(self, fit: TrialResult | Candidate, shape: Shape) -> None:
        """Check what a fit has given for the rows of a test part and the features of a dataset."""
        if not isinstance(fit.chosen, dict):
            raise RefusedError("its parameters have no names")
        for name, sizes in (("predictions", (shape.tested,)), ("weights", (shape.used, shape.features))):
            array = getattr(fit, name)
            if array is not None and (array.ndim != 1 or len(array) not in sizes):
                raise RefusedError(f"its {name} are not {sizes[0]:,} numbers")
        if fit.weights is not None and self._predicts and not np.isfinite(fit.weights).all():
            raise RefusedError("its weights are not finite")
        if fit.predictions is not None:
            _check_range(fit.predictions, shape.classes, "predictions", "classes")
        if fit.selected is not None:
            _check_range(fit.selected, shape.features, "selected features")
            if len(np.unique(fit.selected)) < len(fit.selected):
                raise RefusedError("its selected features have one twice")
        if fit.n_selected is not None and (
            type(fit.n_selected) is not int or not 0 <= fit.n_selected <= shape.features
        ):
            raise RefusedError(f"its number of selected features is not one of 0 to {shape.features:,}")
        if fit.interactions is not None:
            _check_interactions(fit.interactions, shape)

    def _check_candidate(self, candidate: Candidate, shape: Shape) -> None:
        """Check a grid point."""
        seconds = [getattr(candidate, name) for name in _TIMES]
        if not all(_is_number(each) and 0 <= each < np.inf for each in seconds):
            raise RefusedError("a time of a grid point is not a number of seconds")
        self._check_fit(candidate, shape)
        self._check_scores(candidate.scores, (), is_complete=True)
        if candidate.predictions is None:
            raise RefusedError("a grid point has no predictions")

    def _check_curve(self, curve: Curve, shape: Shape) -> None:
        _check_range(curve.sizes - 1, shape.features, "sizes of a curve")
        if sorted(map(str, curve.metrics)) != sorted(self._metrics):
            raise RefusedError("its curve has not each score of its suite once")
        for name, scores in zip(curve.metrics, curve.scores, strict=True):
            self._check_values(name, scores)
        if not (np.isfinite(curve.seconds).all() and (curve.seconds >= 0).all()):
            raise RefusedError("a time of its curve is not a number of seconds")
        if len(curve.chosen) not in (0, len(curve.sizes)):
            raise RefusedError("its curve does not have parameters for each size")
        if not all(isinstance(chosen, dict) for chosen in curve.chosen):
            raise RefusedError("its parameters have no names")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _result_of(row: Mapping[str, Any]) -> TrialResult:
    """Return a stored result, as far as it can be checked."""
    return TrialResult(
        key="",
        scores=json.loads(row["scores"] or "{}"),
        chosen=json.loads(row["chosen"] or "{}"),
        n_selected=row["n_selected"],
        interactions=None if row["interactions"] is None else unpack_interactions(row["interactions"]),
        candidates=unpack_candidates(row["candidates"]) if row["candidates"] else [],
        curve=None if row["curve"] is None else unpack_curve(row["curve"]),
        selected=_unpacked(row["selected"]),
        weights=_unpacked(row["weights"]),
        predictions=_unpacked(row["predictions"]),
        decisions=_unpacked(row["decisions"]),
    )


def _unpacked(packed: bytes | None) -> NDArray[Any] | None:
    return None if packed is None else unpack(packed)


def _check_range(numbers: NDArray[Any], end: int, what: str, of: str = "features") -> None:
    if numbers.dtype.kind != "i" or (numbers.size and not 0 <= numbers.min() <= numbers.max() < end):
        raise RefusedError(f"its {what} are not among the {end:,} {of} of its dataset")


def _check_decisions(result: TrialResult, shape: Shape) -> None:
    """Check the decisions of a result, and give them one row for each test row."""
    decisions = result.decisions
    if decisions is None:
        return
    # A class without rows at the end of the names has no column.
    columns, rest = divmod(decisions.size, shape.tested or 1)
    if result.predictions is None or rest or not 0 < columns <= shape.classes or decisions.dtype.kind != "i":
        raise RefusedError("its decisions are not those of its test rows")
    if decisions.size and not 0 <= decisions.min() <= decisions.max() <= 1:
        raise RefusedError("its decisions are not zeros and ones")
    result.decisions = decisions.reshape(shape.tested, columns)


def _check_interactions(interactions: Interactions, shape: Shape) -> None:
    _check_range(interactions.pairs, shape.features, "pairs of features")
    n_pairs, n_kept = interactions.n_pairs, len(interactions.pairs)
    columns = (interactions.values, interactions.ranks, interactions.p_values)
    if any(each is not None and each.shape != (n_kept,) for each in columns):
        raise RefusedError("its pairs of features do not have a weight and a rank each")
    has_norm = _is_number(interactions.norm) and 0 <= interactions.norm < np.inf
    if not (has_norm and np.isfinite(interactions.values).all()):
        raise RefusedError("the weights of its pairs of features are not finite")
    if type(n_pairs) is not int or n_pairs != shape.features * (shape.features - 1) // 2:
        raise RefusedError("it has another number of pairs of features than its dataset")
    if n_kept and not 0 <= interactions.ranks.min() <= interactions.ranks.max() <= n_pairs:
        raise RefusedError("the ranks of its pairs of features are not possible")
