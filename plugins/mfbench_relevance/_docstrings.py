"""Paragraphs that several docstrings share."""

from __future__ import annotations

import re
from inspect import cleandoc
from typing import TypeVar

ClassT = TypeVar("ClassT", bound=type)

SHARED_PARAMETERS = """\
kernel : {"mutual-information", "linear", "rbf", "polynomial"} or callable, default="mutual-information"
        How two features, or a feature and the response, are compared; see
        `mfbench_relevance.kernels.feature_kernel`. A callable takes two arrays whose rows are standardised columns.
    target : {"auto", "numbers", "classes"}, default="auto"
        What y is; "auto" treats whole numbers, booleans and text as classes, other numbers as numbers. With a numeric
        kernel and more than two classes, one problem is solved per class, against the rest; a feature then has its
        weight of largest absolute value.
    bins, target_bins : int or None, default=None
        Number of bins of a feature and of a numeric response. None means 16 and 4 for "calibrated"; log2 of the number
        of features, rounded, at least 2, for "paper".
    binning : {"frequency", "width"} or None, default=None
        Bins of equal frequency (None for "calibrated") or of equal width (None for "paper").
    gamma : float or None, default=None
        Parameter of the kernels "rbf" and "polynomial"; None is 1 / n_samples.
    degree : int, default=3
        Degree of "polynomial".
    coef0 : float, default=1.0
        Constant term of "polynomial".
    quantile : float, default=0.99
        Quantile of the null that a feature has to exceed, where the null sets the threshold.
    n_permutations : int, default=20
        Number of permutations of y that make up the null."""

KERNEL_PARAMETERS = (
    SHARED_PARAMETERS
    + """
    bias : {"none", "miller-madow", "null"} or None, default=None
        Correction of the kernel for the bias of finite samples; None is "none" for "paper" and for the linear kernel,
        "null" otherwise.
    repair : {"clip", "raise", "ignore"}, default="clip"
        What to do with an indefinite kernel: set negative eigenvalues to 0 and warn, raise an error, or nothing."""
)

PATH_PARAMETERS = """tuning : {"refit", "kernel", "null"}, default="refit"
        How the penalty is chosen if it is None. "refit" fits an additive model to the features selected on training
        rows and measures its squared error on held-out rows. "kernel" measures the distance of the response from the
        prediction in the kernel of the held-out rows, as the paper's wording suggests; with mutual information the
        bias of this kernel rewards every feature, and nearly all are selected. "null" uses the quantile of the kernel
        between features and permuted responses, without cross-validation.
    one_standard_error : bool, default=False
        Whether to use the largest penalty whose loss is within one standard error of the smallest.
    n_folds : int, default=10
        Number of folds of the cross-validation.
    n_penalties : int, default=25
        Number of penalties to try, in equal ratios: from the smallest that selects nothing down to 0.004 bits, or to a
        thousandth for a numeric kernel.
    max_iter : int, default=10000
        Largest number of passes over all features.
    tol : float, default=1e-10
        Largest violation of the optimality conditions, relative to the largest kernel of a feature and the response.
    random_state : int, RandomState or None, default=None
        Seed of permutations and folds."""

KERNEL_ATTRIBUTES = """weights_ : ndarray of shape (n_features,)
        Weights. A negative weight is a sign of redundancy or, with a numeric kernel, of negative dependence.
    feature_importances_ : ndarray of shape (n_features,)
        Absolute values of the weights.
    support_ : ndarray of bool, shape (n_features,)
        Whether a feature is selected: those of nonzero weight are.
    relevance_ : ndarray of shape (n_features,), or (n_classes, n_features)
        Kernel of features and response, corrected and repaired.
    settings_ : dict
        The settings in use: those of the preset, except where a parameter overrides them.
    smallest_eigenvalue_ : float or None
        Smallest eigenvalue of the kernel of features and response before its repair; None if it was not indefinite."""

SOLUTION_ATTRIBUTES = """dual_ : ndarray of shape (n_features,), or (n_classes, n_features)
        The minimiser. `weights_` differs from it only if the kernel is corrected mutual information: a feature below
        the mean of the null then has weight 0.
    epsilon_, bound_ : float
        The penalty and the bound in use.
    penalties_ : ndarray of shape (n_penalties,) or None
        Values of 2 epsilon that cross-validation tried.
    cv_loss_ : ndarray of shape (n_folds, n_penalties) or None
        Their held-out losses.
    optimality_gap_ : float
        Largest violation of the Karush-Kuhn-Tucker conditions.
    n_iter_ : int
        Number of passes over all features."""

RAISES = """ValueError
        If X or y holds NaN or infinity, if y holds neither numbers nor classes, or if the kernel is indefinite and
        ``repair="raise"``.

    Warns
    -----
    RuntimeWarning
        If the kernel is indefinite, or if the response is constant, in which case no feature is selected."""

PARAGRAPHS = {
    "{shared_parameters}": SHARED_PARAMETERS,
    "{kernel_parameters}": KERNEL_PARAMETERS,
    "{path_parameters}": PATH_PARAMETERS,
    "{kernel_attributes}": KERNEL_ATTRIBUTES,
    "{solution_attributes}": SOLUTION_ATTRIBUTES,
    "{raises}": RAISES,
}


def with_shared_paragraphs(cls: ClassT) -> ClassT:
    """Replace ``{kernel_parameters}`` and the like in a class's docstring by the paragraphs above."""
    if cls.__doc__ is not None:  # python -OO drops docstrings.
        text = cleandoc(cls.__doc__)  # without the indentation that Python 3.13 removes
        for name, paragraph in PARAGRAPHS.items():
            text = text.replace(name, re.sub("^    ", "", paragraph, flags=re.MULTILINE))
        cls.__doc__ = text
    return cls
