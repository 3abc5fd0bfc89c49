"""The vocabulary of plugins: `Dataset`, and the specs with which plugins register methods, data and executors.

Most modules import this one, so it stays light: it imports neither NumPy nor scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Factory = str | Callable[..., Any]
CLASSIFICATION = "classification"  # the task of specs and datasets that name none
Features = Any  # an array of float64, or a `scipy.sparse.csr_array`


@cache
def _listed_values(kind: type) -> dict[str, tuple[Any, ...]]:
    return {name: get_args(hint) for name, hint in get_type_hints(kind).items() if get_origin(hint) is Literal}


def check_values(spec: Any) -> None:
    """Raise ValueError if a field of a spec has a value that its annotation does not list."""
    for name, allowed in _listed_values(spec.__class__).items():
        if getattr(spec, name) not in allowed:
            *others, last = map(repr, allowed)
            raise ValueError(f"{spec.name!r} has {name} {getattr(spec, name)!r}: use {', '.join(others)} or {last}")


@dataclass(frozen=True, kw_only=True)
class NamedSpec:
    """What a plugin describes, under a name: lower-case words joined by hyphens."""

    name: str
    summary: str

    def __post_init__(self) -> None:
        check_name(self.name)
        check_values(self)


@dataclass(frozen=True, kw_only=True)
class EstimatorSpec(NamedSpec):
    """A plugin's description of an estimator; the estimator itself is not imported.

    Parameters
    ----------
    name : str
        Name in suites and on the command line: lower-case words joined by hyphens.
    summary : str
        One line for ``mfbench plugins``. Reports show the text before a colon as the name of the
        estimator, as in ``"ReliefF: k nearest hits and misses"``, or else `name`.
    factory : str or callable
        ``"package.module:Class"``, imported on first use, or a callable that takes the parameters as keywords.
    paper : str, default=""
        The paper that introduced the method: authors, title, venue, year.
    defaults : mapping, default={}
        Parameters that override the defaults of the class.
    grid : mapping of str to sequence, default={}
        Values to try if a suite sets ``tune = "default"``.
    tags : sequence of str, default=()
        Free-form words to filter by ("margin", "filter", "ensemble").
    warm_up : bool, default=False
        True for an estimator that compiles code on first use. It is then fitted on a few artificial rows before its
        first measured fit in a worker, which keeps compilation out of the trial's time.
    tasks : sequence of str, or mapping of str to mapping, default=("classification",)
        Names of the tasks that it fits; every task if empty. As a mapping, it has the parameters that it takes in each
        task: ``{"classification": {}, "regression": {"target": "numbers"}}``. A suite of another task leaves it out.
    complexity : str, default=""
        Cost of a fit in training rows ``n``, features ``p`` and classes ``k``. With a coefficient on each term, it
        gives the seconds of a fit on an ordinary machine, including a classifier's predictions for the test rows:
        ``"2e-3 + 3e-9 * n**2 * p"``. Without coefficients it gives only the growth, ``"n**2 * p"``, and a typical
        constant is assumed. Until trials have been measured, it determines the order of trials and the estimates of
        runs; ``mfbench check`` compares it with the measured growth.
    check_parameters : mapping, default={}
        Parameters that ``mfbench check`` sets so that a fit takes well under a second. They must not change the kind of
        computation.
    expected_failures : mapping of str to str, default={}
        Checks of ``mfbench check`` that the method cannot pass, each with the reason. A check that passes although it
        is listed here is a failure.
    requires : sequence of str, default=()
        Module names of packages that a fit imports and that the plugin's distribution does not always install:
        ``("skrebate",)``. If one is missing, a suite leaves the method out before anything runs.
    install : str, default=""
        Argument of ``pip install`` that installs them, e.g. ``"my-package[rebate]"``; empty if it equals the module
        names.

    Raises
    ------
    ValueError
        If the name is invalid.
    """

    factory: Factory
    paper: str = ""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    tags: Sequence[str] = ()
    warm_up: bool = False
    tasks: Sequence[str] | Mapping[str, Mapping[str, Any]] = (CLASSIFICATION,)
    complexity: str = ""
    check_parameters: Mapping[str, Any] = field(default_factory=dict)
    expected_failures: Mapping[str, str] = field(default_factory=dict)
    requires: Sequence[str] = ()
    install: str = ""


@dataclass(frozen=True, kw_only=True)
class SelectorSpec(EstimatorSpec):
    """A feature selector: after ``fit(X, y)`` it has ``feature_importances_`` (larger = more relevant).

    Parameters
    ----------
    targets : {"", "classes", "numbers"}, default=""
        In a detection study of classes cut from a numeric response, the y passed to `fit`: the response with "numbers",
        class codes with "classes". If empty, scikit-learn's tags decide: a regressor gets numbers, any other estimator
        class codes.
    raw_input : bool, default=False
        True for a selector that handles categories and missing values itself. It gets the features unencoded (category
        codes, NaN for a missing value) and unscaled and, if it has such a parameter, ``categorical_features`` as a
        boolean mask of shape (n_features,). Other selectors get imputed, one-hot or ordinal encoded, scaled columns;
        the importance of a feature is then the largest among its encoded columns.
    path : (str, str) or None, default=None
        For a selector whose single fit yields the importances for many values of a parameter: the name of the
        parameter, and the name of the fitted selector's method that maps a value to the corresponding
        ``feature_importances_``. When a suite tunes that parameter, the selector is fitted once, with the largest value
        of the grid.
    invariance : {"none", "affine", "monotone"}, default="none"
        Transformations of each feature that leave the weights unchanged: none; shifts and positive factors; every
        increasing function. ``mfbench check`` tests the declared invariance.
    controls : sequence of str, default=()
        For a selector that promises an error rate: the rate and the parameter with its bound, as in ``("fdr", "q")``.
        The rates are "fdr" (expected share of irrelevant features among the selected), "fwer" (probability of any
        irrelevant one), "pfer" (their expected number) and "fpr" (expected share of the irrelevant features that are
        selected). The bound may also be ``"1 - quantile"``. A third word, "marginal", says that features count as
        irrelevant only if they are independent of the target, not merely given the other features.
        ``mfbench audit`` checks the promise.

    Examples
    --------
    >>> SelectorSpec(name="variance", summary="Largest variance first", factory="my_package:Variance").tags
    ()
    """

    targets: Literal["", "classes", "numbers"] = ""
    raw_input: bool = False
    path: tuple[str, str] | None = None
    invariance: Literal["none", "affine", "monotone"] = "none"
    controls: Sequence[str] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        rate, _, *more = self.controls or ("fdr", "")
        if rate not in ("fdr", "fwer", "pfer", "fpr") or more not in ([], ["marginal"]):
            raise ValueError(
                f"selector {self.name!r} controls {tuple(self.controls)}: use ('fdr', PARAMETER), with 'fwer', 'pfer' "
                "or 'fpr' for other rates, and possibly 'marginal' as a third word"
            )


@dataclass(frozen=True, kw_only=True)
class ClassifierSpec(EstimatorSpec):
    """A classifier: any scikit-learn classifier. See `EstimatorSpec` for the other parameters.

    Parameters
    ----------
    path : (str, str) or None, default=None
        For a classifier whose single fit serves many values of a parameter: the name of the parameter, and the name of
        the fitted classifier's method that maps a value to another fitted classifier, equal to a fit with that value.
        When a suite tunes that parameter, the classifier is fitted once for all values of the grid.

    Examples
    --------
    >>> ClassifierSpec(name="knn", summary="k neighbours", factory="sklearn.neighbors:KNeighborsClassifier").name
    'knn'
    """

    path: tuple[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class RegressorSpec(EstimatorSpec):
    """A regressor: any scikit-learn regressor. See `EstimatorSpec` for the other parameters.

    Parameters
    ----------
    tasks : sequence of str, or mapping of str to mapping, default=("regression",)
        As in `EstimatorSpec`.
    path : (str, str) or None, default=None
        As in `ClassifierSpec`.

    Examples
    --------
    >>> RegressorSpec(name="ridge", summary="Ridge regression", factory="sklearn.linear_model:Ridge").tasks
    ('regression',)
    """

    tasks: Sequence[str] | Mapping[str, Mapping[str, Any]] = ("regression",)
    path: tuple[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class DatasetSpec(NamedSpec):
    """A plugin's description of a dataset; the dataset itself is not loaded.

    Parameters
    ----------
    name : str
        Name in suites: lower-case words joined by hyphens.
    summary : str
        One line for ``mfbench datasets list``.
    loader : str, callable or None, default=None
        ``"package.module:function"`` or a callable that returns a `Dataset`. Its keyword parameters can be set in an
        expression (``"waveform-21(n_samples=1000)"``). None for a dataset from a mirror, the cache or the network,
        identified by `openml_id`, `uci_id` or `mirror_name`.
    task : str, default="classification"
        Name of the task that its target poses.
    source : str, default=""
        Origin of the data.
    license : str, default=""
        Terms of use.
    citation : str, default=""
        How to cite the data.
    n_samples, n_features, n_classes : int or None, default=None
        Expected size after the preparation below. A dataset of a different size is rejected, unless a parameter is set.
    class_counts : mapping of str to int, default={}
        Expected number of rows per class after the preparation.
    openml_id, uci_id : int or None, default=None
        Id of the dataset in these repositories.
    mirror_name : str, default=""
        Name in a mirror; if empty, the name of the dataset with underscores for hyphens.
    bases : mapping of str to str, default={}
        Parameters of the loader that take another dataset, each with its default, as in ``{"of": "iris"}``. Expressions
        name it (``"probed(of='wine')"``), and the loader gets the `Dataset`.
    target : str, default=""
        Target column, if it differs from the one that the repository declares.
    categorical : sequence of str or None, default=None
        Numeric columns to treat as categorical; None means those declared by the repository.
    drop : sequence of str, default=()
        Preparation: columns to leave out.
    keep_classes : sequence of str, default=()
        Preparation: classes to keep; all if empty.
    collections : mapping of str to str, default={}
        Collections that the dataset belongs to, each with its label in the paper ("immigrate-uci": "SMR").
    groups, time, split, weights : str, default=""
        Columns that leave `X` for the attributes of `Dataset` with these names: rows of one group stay in one part,
        training rows are earlier than test rows, the part of each row, and its weight.
    feature_groups : mapping of str to sequence of str, default={}
        Features that are selected together: names or shell patterns (``"gene_*"``) by the name of their group.
    note : str, default=""
        Caveats for users: differences from the paper's version, dependent rows, doubts about its identity.
    tags : sequence of str, default=()
        Free-form words to filter by.
    expected_failures : mapping of str to str, default={}
        As in `EstimatorSpec`.
    """

    loader: Factory | None = None
    task: str = CLASSIFICATION
    source: str = ""
    license: str = ""
    citation: str = ""
    n_samples: int | None = None
    n_features: int | None = None
    n_classes: int | None = None
    class_counts: Mapping[str, int] = field(default_factory=dict)
    openml_id: int | None = None
    uci_id: int | None = None
    mirror_name: str = ""
    bases: Mapping[str, str] = field(default_factory=dict)
    target: str = ""
    categorical: Sequence[str] | None = None
    drop: Sequence[str] = ()
    keep_classes: Sequence[str] = ()
    collections: Mapping[str, str] = field(default_factory=dict)
    groups: str = ""
    time: str = ""
    split: str = ""
    weights: str = ""
    feature_groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    note: str = ""
    tags: Sequence[str] = ()
    expected_failures: Mapping[str, str] = field(default_factory=dict)

    @property
    def embedded(self) -> bool:
        """Whether a loader creates it, without network or prepared files."""
        return self.loader is not None


@dataclass(frozen=True, kw_only=True)
class ExecutorSpec(NamedSpec):
    """A plugin's description of an engine, which runs the trials of a run in other processes or on other machines.

    Parameters
    ----------
    name : str
        Name for ``--executor``: lower-case words joined by hyphens.
    summary : str
        One line for ``mfbench plugins``.
    factory : str or callable
        ``"package.module:Class"``, imported when a run uses the executor, or a callable. It takes the address of a
        scheduler ("" for the default) and the number of worker processes, and returns a `mfbench.engines.Engine`, or a
        `mfbench.engines.Executor`.
    install : str, default=""
        Argument of ``pip install`` that installs it, e.g. ``"mfbench[dask]"``; shown if the import fails.

    Raises
    ------
    ValueError
        If the name is invalid.

    Examples
    --------
    >>> ExecutorSpec(name="my-cluster", summary="Our cluster", factory="my_package:Cluster").install
    ''
    """

    factory: Factory
    install: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Dataset:
    """A table with a target, as loaded: not scaled, imputed or encoded beyond category codes.

    Parameters
    ----------
    name : str
        The reference from which it was loaded.
    X : ndarray or scipy.sparse array of shape (n_samples, n_features)
        float64. A categorical column holds codes 0, 1, …; NaN marks a missing value. Sparse features stay sparse, as
        `scipy.sparse.csr_array`; they have neither categories nor missing values.
    y : ndarray of shape (n_samples,)
        The target: class codes 0 … n_classes - 1 (int64), or numbers (float64).
    class_names : tuple of str
        The label behind each code; empty if the target is a number.
    feature_names : tuple of str
        One name per column.
    categorical : ndarray of shape (n_features,)
        True for a column of categories.
    task : str, default="classification"
        Name of the task that the target poses.
    categories : mapping of str to tuple of str, default={}
        The label behind each code of a categorical column, by feature name.
    encoding : {"one-hot", "ordinal"}, default="one-hot"
        Encoding of the categorical columns for methods that need numbers.
    relevant : tuple of int or None, default=None
        Indices of the relevant features, if the truth is known.
    interactions : tuple of (int, int) or None, default=None
        Pairs of interacting features, if the truth is known.
    response : ndarray of shape (n_samples,) or None, default=None
        float64: the number behind each class, if the classes come from a response cut into parts. Detection studies
        pass it to selectors that take numbers.
    groups : ndarray of shape (n_samples,) or None, default=None
        int64: the group of each row, such as the patient. Rows of one group are in the same part of a split.
    time : ndarray of shape (n_samples,) or None, default=None
        float64: the time of each row, in any unit. Training rows are earlier than test rows.
    split : ndarray of shape (n_samples,) or None, default=None
        int64: the fold in which each row is tested, from 0; -1 for a row that is always a training row; -2 for one that
        is a training row too, and the one on which tuning scores fits of the other training rows.
    weights : ndarray of shape (n_samples,) or None, default=None
        float64: how much each row counts in fits and scores, from 0.
    feature_groups : mapping of str to tuple of str, default={}
        Names of features that are selected together, by the name of their group. A feature is in one group at most.
    source, license, citation : str, default=""
        Provenance.
    """

    name: str
    X: Features
    y: NDArray[Any]
    class_names: tuple[str, ...]
    feature_names: tuple[str, ...]
    categorical: NDArray[np.bool_]
    task: str = CLASSIFICATION
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    encoding: Literal["one-hot", "ordinal"] = "one-hot"
    relevant: tuple[int, ...] | None = None
    interactions: tuple[tuple[int, int], ...] | None = None
    response: NDArray[np.float64] | None = None
    groups: NDArray[np.int64] | None = None
    time: NDArray[np.float64] | None = None
    split: NDArray[np.int64] | None = None
    weights: NDArray[np.float64] | None = None
    feature_groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    source: str = ""
    license: str = ""
    citation: str = ""

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    @property
    def is_sparse(self) -> bool:
        """Whether the features are sparse."""
        return hasattr(self.X, "tocsr")

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 if the target is a number."""
        return len(self.class_names)


def check_name(name: str) -> None:
    """Raise ValueError unless `name` is made of lower-case letters, digits and single hyphens.

    Examples
    --------
    >>> check_name("svm-rbf")
    >>> check_name("SVM rbf")
    Traceback (most recent call last):
    ...
    ValueError: 'SVM rbf' is not a valid name: use lower-case letters, digits and single hyphens, such as 'svm-rbf'
    """
    words = name.split("-")
    if not all(word.isascii() and word.isalnum() and word == word.lower() for word in words):
        raise ValueError(
            f"{name!r} is not a valid name: use lower-case letters, digits and single hyphens, such as 'svm-rbf'"
        )
