"""Docstring paragraphs that several estimators share, each written once.

A line ``%(name)s`` in the docstring of a class stands for the paragraph of that name; `complete` inserts it.
"""

from __future__ import annotations

import re
from inspect import cleandoc
from typing import TypeVar

Class = TypeVar("Class", bound=type)

PARAGRAPHS = {
    # Attributes
    "learner": """\
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_skipped_ : int
        Number of training samples that are alone in their class. They have no hit and hence no margin, so means are
        taken over the other samples; they still count as misses of others.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features, if X has string column names.""",
    "signed": """\
    weights_raw_ : ndarray of shape (n_features,)
        Same as ``feature_importances_``.
    weights_ : ndarray of shape (n_features,)
        The weights, negative ones replaced by 0.
    degenerate_ : bool
        True if no weight is positive: no feature is selected.""",
    "drawn": """\
    sample_indices_ : ndarray of int, shape (m,)
        The training samples averaged over.""",
    "squares": """\
    weights_ : ndarray of shape (n_features,)
        Weights of squared differences; at least 0, with sum 1.
    feature_importances_ : ndarray of shape (n_features,)
        Same as ``weights_``.""",
    "sums": """\
    weights_ : ndarray of shape (n_features,)
        Weights w >= 0, with sum 1.
    feature_importances_ : ndarray of shape (n_features,)
        Same as ``weights_``.""",
    "soft": """\
    n_iter_ : int
        Number of steps taken.
    degenerate_ : bool
        True if no feature has a positive margin; a warning is issued.
    sigma_ : float
        Softness used in prediction: ``sigma``.""",
    # Parameters
    "draws": """\
    n_samples : int or None, default=None
        Number m of samples to average over, drawn with replacement; None for every sample once.""",
    "seed": """\
    random_state : int, RandomState instance or None, default=None
        Seed of the draw; unused if ``n_samples`` is None.""",
    "degenerate": """\
    degenerate : {"uniform", "ray", "raise"}, default="uniform"
        What to do if no feature has a positive margin: use equal weights for all features that vary; give all weight to
        the feature with the largest, least negative margin; or raise an error.""",
    # Sections
    "refuses": """\
    Raises
    ------
    ValueError
        If X holds NaN or infinity, y has fewer than two classes, or every sample is alone in its class.""",
    "radius-raises": """\
    Raises
    ------
    ValueError
        If X holds infinity, y has fewer than two classes, every sample is alone in its class, or a parameter does not
        fit X.""",
    "radius-parameters": """\
    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, the largest weights first; None keeps those of positive weight.
    miss : {"observed", "prior"}, default="observed"
        With more than two classes, how misses of several classes are combined. With "observed", the sum of
        differences to class c counts by (K - 1) m_c / m², for m_c misses of class c among the m misses of a sample
        and K classes, as in scikit-rebate; with "prior", the mean difference to class c counts by the frequency of c
        among the classes with such misses, as in ReliefF.
    categorical_features : array-like of bool, shape (n_features,), array-like of int, or None, default=None
        Mask or indices of the nominal features, whose values are category codes (any numbers); None if there are
        none.""",
    "radius-attributes": """\
    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Signed weights.
    weights_raw_ : ndarray of shape (n_features,)
        Same as ``feature_importances_``.
    weights_ : ndarray of shape (n_features,)
        The weights, negative ones replaced by 0.
    degenerate_ : bool
        True if no weight is positive.
    categorical_ : ndarray of bool, shape (n_features,)
        True for a nominal feature.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_skipped_ : int
        Number of training samples that are alone in their class. They have no hit, so means are taken over the other
        samples; they still count as misses of others.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features, if X has string column names.""",
    "radius-notes": """\
    Time O(n² p); memory O(n p), since distances are computed for a block of samples at a time.

    Missing values (NaN) are left out: the distance of two samples is the mean :math:`d_l` over the features known in
    both, and for a feature only the samples count in which it is known. Two samples without such a feature are neither
    near nor far.

    scikit-rebate (skrebate) gives the same weights if ``categorical_features`` names the features that it treats as
    categories, and no feature is constant. Its definition differs in some cases: it replaces the difference of numbers
    by a ramp if there are features of both kinds; it takes more than ten classes for numbers; it averages over all
    samples, also one that is alone in its class; and in SURF and SURF* its mean distance is about half the true one if
    values are missing. Here a distance equals a threshold if they agree to about 12 digits of the largest possible
    distance, and then the sample is neither near nor far; there, rounding decides.

    A constant feature has weight 0. A duplicate of a sample is at distance 0 and mostly near it; the sample itself
    never is.""",
    "base": """\
    base : {"multisurf", "multisurf-star", "relieff", "surf", "surf-star"}, default="multisurf"
        Method of the Relief family. Relief is ``"relieff"`` with one neighbour.
    base_parameters : dict or None, default=None
        Parameters of that method, such as ``{"n_neighbors": 10}``; None for its defaults.""",
    "base-nominal": """\
    categorical_features : array-like of bool, shape (n_features,), array-like of int, or None, default=None
        Mask or indices of the nominal features, whose values are category codes (any numbers); None if there are none.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random, also in the base method.""",
    "base-fitted": """\
    categorical_ : ndarray of bool, shape (n_features,)
        True for a nominal feature.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_skipped_ : int
        Number of training samples that are alone in their class. They have no hit, so means are taken over the other
        samples; they still count as misses of others.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features, if X has string column names.""",
    "base-raises": """\
    Raises
    ------
    ValueError
        If X holds infinity, y has fewer than two classes, every sample is alone in its class, or a parameter fits
        neither X nor the base method.""",
    # References
    "rebate": """\
    .. [2] R. J. Urbanowicz, R. S. Olson, P. Schmitt, M. Meeker, J. H. Moore: Benchmarking relief-based feature
       selection methods for bioinformatics data mining. Journal of Biomedical Informatics 85, 2018, pages 168-188.""",
    "immigrate": """\
R. Zhao, P. Hong, J. S. Liu: IMMIGRATE: a margin-based feature selection method with interaction terms.
       Entropy 22(3), 2020, article 291.""",
    "target-neighbours": """\
I. Takeuchi, M. Sugiyama: Target neighbor consistent feature weighting for nearest neighbor classification.
       Advances in Neural Information Processing Systems 24 (NIPS), 2011, pages 576-584.""",
}


def complete(cls: Class) -> Class:
    """Replace the names of paragraphs in the docstring of a class by the paragraphs.

    Parameters
    ----------
    cls : type
        The docstring, if any, names paragraphs as ``%(name)s``.

    Returns
    -------
    type
        The same class.
    """
    if cls.__doc__ is not None:  # python -OO drops docstrings.
        text = cleandoc(cls.__doc__)  # without the indentation that Python 3.13 removes
        for name, paragraph in PARAGRAPHS.items():
            text = text.replace(f"%({name})s", re.sub("^    ", "", paragraph, flags=re.MULTILINE))
        cls.__doc__ = text
    return cls
