"""Base class of selectors that fit a method of the Relief family many times, each time to some of the features."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions

from mfbench_margin._nearest.differences import are_constant, as_mask
from mfbench_margin._nearest.relief_selector import SignedSelector

BASES = {
    "multisurf": "mfbench_margin.surf:MultiSURF",
    "multisurf-star": "mfbench_margin.surf:MultiSURFStar",
    "relieff": "mfbench_margin.relieff:ReliefF",
    "surf": "mfbench_margin.surf:SURF",
    "surf-star": "mfbench_margin.surf:SURFStar",
}
# Parameters of a base that these selectors set, or that have no effect on weights.
OWN_PARAMETERS = {"categorical_features", "random_state", "n_features_to_select"}


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
