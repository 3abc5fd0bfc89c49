"""Steps of a scikit-learn pipeline: a table encoded as in a run, and the columns of its most important features."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted


class TopFeatures(TransformerMixin, BaseEstimator):
    """Encode a table, and keep the columns of the features that a selector weighs most.

    Parameters
    ----------
    encoder : ColumnTransformer
        As `encoder_of` makes it: numbers, and categories of which the last step makes one-hot columns.
    selector : estimator
        Has `feature_importances_` after `fit`. A feature is as important as the most important of its columns.
    n_features : int
        Number of features to keep.
    raw : bool, default=False
        Whether the selector handles categories and missing values itself: it then gets numbers as they are, codes of
        categories, and NaN; and ``categorical_features``, if it has this parameter, as a mask.

    Attributes
    ----------
    features_ : list of str
        The features kept, in the order of the table.
    columns_ : ndarray of int
        Their encoded columns.
    weights_ : ndarray of shape (n_features_in,)
        How important each feature is.
    owners_ : ndarray of int
        The feature of each encoded column.
    encoder_, selector_ : estimator
        The fitted ones.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=["a", "b", "c"])
    >>> forest = RandomForestClassifier(random_state=0)
    >>> TopFeatures(encoder_of(["a", "b", "c"], []), forest, 1).fit(X, X["b"] > 0).features_
    ['b']
    """

    def __init__(self, encoder: Any, selector: Any, n_features: int = 1, raw: bool = False) -> None:
        self.encoder = encoder
        self.selector = selector
        self.n_features = n_features
        self.raw = raw

    def fit(self, X: pd.DataFrame, y: Any) -> TopFeatures:
        """Fit the encoder and the selector."""
        self.encoder_ = clone(self.encoder)
        encoded = np.asarray(self.encoder_.fit_transform(X), dtype=np.float64)
        self.owners_ = _owners(self.encoder_, [str(name) for name in X.columns])
        selector = clone(self.selector)
        if self.raw:
            rows, categorical = _codes(X)
            if "categorical_features" in selector.get_params(deep=False):
                selector.set_params(categorical_features=categorical)
            self.selector_ = selector.fit(rows, y)
            self.weights_ = np.asarray(self.selector_.feature_importances_, dtype=np.float64)
        else:
            self.selector_ = selector.fit(encoded, y)
            weights = np.asarray(self.selector_.feature_importances_, dtype=np.float64)
            self.weights_ = np.full(X.shape[1], -np.inf)
            np.maximum.at(self.weights_, self.owners_, weights)
        kept = np.sort(np.argsort(-self.weights_, kind="stable")[: self.n_features])
        self.features_ = [str(X.columns[place]) for place in kept]
        self.columns_ = np.flatnonzero(np.isin(self.owners_, kept))
        return self

    def transform(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """Return the encoded columns of the features kept."""
        check_is_fitted(self)
        with warnings.catch_warnings():  # categories that are new have zeros in all columns
            warnings.filterwarnings("ignore", message="Found unknown categories", category=UserWarning)
            return np.asarray(self.encoder_.transform(X), dtype=np.float64)[:, self.columns_]


def _codes(X: pd.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return a table as numbers, with the codes of categories and NaN, and which columns are categories."""
    categorical = np.array([isinstance(dtype, pd.CategoricalDtype) for dtype in X.dtypes])
    columns = [
        X[name].cat.codes.where(X[name].notna()) if is_one else X[name]
        for name, is_one in zip(X, categorical, strict=True)
    ]
    return np.column_stack([column.to_numpy(dtype=np.float64) for column in columns]), categorical


def _owners(encoder: ColumnTransformer, names: list[str]) -> NDArray[np.intp]:
    """Return the position of the feature that each encoded column comes from."""
    place = {name: position for position, name in enumerate(names)}
    owners: list[int] = []
    for _, step, columns in encoder.transformers_:
        if step == "drop" or not len(columns):
            continue
        last = step[-1]
        counts = [1] * len(columns)
        if isinstance(last, OneHotEncoder):
            counts = [1 if len(own) == 2 else len(own) for own in last.categories_]
        owners += [place[str(name)] for name, count in zip(columns, counts, strict=True) for _ in range(count)]
    return np.array(owners, dtype=np.intp)


def encoder_of(numbers: list[str], categories: list[str]) -> ColumnTransformer:
    """Return what a run does before a selector is fitted: fill, scale numbers, one column per category."""
    steps: list[Any] = []
    if numbers:
        steps.append(("numbers", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers))
    if categories:
        fill = SimpleImputer(strategy="most_frequent")
        hot = OneHotEncoder(drop="if_binary", handle_unknown="ignore", sparse_output=False)
        steps.append(("categories", make_pipeline(fill, hot), categories))
    return ColumnTransformer(steps)
