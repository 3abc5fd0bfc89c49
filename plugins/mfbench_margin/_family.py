"""Base classes of the Relief family: signed weights, draws of samples, and repeated fits to some of the features."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from importlib import import_module
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import validate_data

from mfbench_margin._learner import MarginLearner
from mfbench_margin._nearest.differences import are_constant, as_mask

BASES = {
    "multisurf": "mfbench_margin.surf:MultiSURF",
    "multisurf-star": "mfbench_margin.surf:MultiSURFStar",
    "relieff": "mfbench_margin.relieff:ReliefF",
    "surf": "mfbench_margin.surf:SURF",
    "surf-star": "mfbench_margin.surf:SURFStar",
}
# Parameters of a base that these selectors set, or that have no effect on weights.
OWN_PARAMETERS = {"categorical_features", "random_state", "n_features_to_select"}


class SignedSelector(MarginLearner):
    """Base class of selectors whose weight of a feature is a mean margin, which may be negative."""

    def _set_weights(self, weights: NDArray[np.float64]) -> None:
        self.weights_raw_ = weights
        self.feature_importances_ = weights
        self.weights_ = np.maximum(weights, 0.0)
        self.degenerate_ = not bool((weights > 0).any())


class NumbersToo(SignedSelector):
    """Base class of selectors whose `target` may be numbers: `_of_numbers` then returns the weights."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"target": [StrOptions({"classes", "numbers"})]}

    target: str

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        if self.target == "classes":
            return super()._fit(X, y, sample_weight)
        table, numbers = checked_numbers(self, X, y)
        self._set_weights(self._of_numbers(table, numbers))
        return self

    @abstractmethod
    def _of_numbers(self, X: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights for numbers to predict."""


def checked_numbers(estimator: Any, X: Any, y: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return rows and numbers to predict; raise `ValueError` unless these are finite and differ."""
    finite = "allow-nan" if estimator._allow_nan else True
    X, y = validate_data(estimator, X, y, dtype=np.float64, order="C", ensure_all_finite=finite, y_numeric=True)
    if len(y) < 2 or np.ptp(y) == 0:
        raise ValueError(f"{type(estimator).__name__} needs at least two different numbers in y, n_samples = {len(y)}")
    return X, np.asarray(y, dtype=np.float64)


class MarginSelector(SignedSelector):
    """Base class of selectors that average over all samples or a draw of them."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_samples": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
    }

    def _draw_samples(self, sample_weights: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the training indices to average over; set ``sample_indices_``.

        A sample that is alone in its class has no hit and hence no margin: it is never drawn, but is a miss of others.
        """
        indices = np.flatnonzero(sample_weights)
        if self.n_samples is not None:
            random_state = check_random_state(self.random_state)
            indices = indices[random_state.randint(len(indices), size=self.n_samples)]
        self.sample_indices_ = indices
        return indices


class FamilySelector(SignedSelector):
    """Base class: `_combine` combines the weights that the base method gives to features that vary."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "base": [StrOptions(set(BASES))],
        "base_parameters": [dict, None],
        "categorical_features": ["array-like", None],
        "random_state": ["random_state"],
    }

    _allow_nan = True

    base: str
    base_parameters: Mapping[str, Any] | None
    categorical_features: Any

    def _learn(self, X: NDArray[np.float64], codes: NDArray[np.int64], sample_weights: NDArray[np.float64]) -> None:
        self.categorical_ = as_mask(self.categorical_features, X.shape[1])
        self._make_base()
        # A constant feature has weight 0, whatever it is compared with.
        features = np.flatnonzero(~are_constant(X))
        weights = np.zeros(X.shape[1])
        weights[features] = self._combine(X, codes, features)
        self._set_weights(weights)

    @abstractmethod
    def _combine(
        self, X: NDArray[np.float64], codes: NDArray[np.int64], features: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Return the weights of some features, those that vary."""

    def _base_weights(
        self, X: NDArray[np.float64], codes: NDArray[np.int64], features: NDArray[np.intp], rng: np.random.RandomState
    ) -> NDArray[np.float64]:
        """Return the weights that the base method gives to some features on their own."""
        base = self._make_base()
        base.set_params(categorical_features=self.categorical_[features])
        if "random_state" in base.get_params():
            base.set_params(random_state=rng)
        weights: NDArray[np.float64] = base.fit(X[:, features], codes).feature_importances_
        return weights

    def _make_base(self) -> Any:
        """Return the base method with its parameters.

        Raises
        ------
        ValueError
            If it does not have one of them, or a value is out of range.
        """
        module, _, name = BASES[self.base].partition(":")
        kind = getattr(import_module(module), name)
        accepted = sorted(set(kind().get_params()) - OWN_PARAMETERS)
        for parameter in self.base_parameters or {}:
            if parameter not in accepted:
                raise ValueError(
                    f"base_parameters has {parameter!r}, which cannot be set for {self.base}; use {', '.join(accepted)}"
                )
        base = kind(**dict(self.base_parameters or {}))
        # A fit within a fit does not validate its parameters, because they usually are those of the outer one.
        base._validate_params()
        return base
