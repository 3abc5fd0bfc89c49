"""Docstring paragraphs that several estimators share, each written once.

A line ``%(name)s`` in the docstring of a class stands for the paragraph of that name; `complete` inserts it.
"""

from __future__ import annotations

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
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if X has string column names.""",
    "signed": """\
    weights_raw_ : ndarray of shape (n_features,)
        Same as ``feature_importances_``.
    weights_ : ndarray of shape (n_features,)
        The weights, negative ones replaced by 0.
    degenerate_ : bool
        True if no weight is positive: no feature is selected.
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
    # References
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
    text = cls.__doc__
    if text is not None:  # python -OO drops docstrings.
        for name, paragraph in PARAGRAPHS.items():
            text = text.replace(f"    %({name})s", paragraph).replace(f"%({name})s", paragraph)
        cls.__doc__ = text
    return cls
