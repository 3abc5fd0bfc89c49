"""Paragraphs that the docstrings of several estimators have in common, each written once.

A line ``%(name)s`` in the docstring of a class stands for the paragraph of that name; `complete` puts it in.
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
        Number of training samples that are alone in their class. They have no hit, so no margin: means are taken over
        the rest. As misses of others they count.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if X has string column names.""",
    "drawn": """\
    weights_raw_ : ndarray of shape (n_features,)
        The same.
    weights_ : ndarray of shape (n_features,)
        The weights, negative ones replaced by 0.
    degenerate_ : bool
        True if no weight is positive: no feature is selected.
    sample_indices_ : ndarray of int, shape (m,)
        The training samples averaged over.""",
    "squares": """\
    weights_ : ndarray of shape (n_features,)
        Weights of squared differences; not negative, their sum is 1.
    feature_importances_ : ndarray of shape (n_features,)
        The same.""",
    "sums": """\
    weights_ : ndarray of shape (n_features,)
        Weights w >= 0, of sum 1.
    feature_importances_ : ndarray of shape (n_features,)
        The same.""",
    "soft": """\
    n_iter_ : int
        Number of steps taken.
    degenerate_ : bool
        True if no feature has a positive margin; a warning is given.
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
        What to do if no feature has a positive margin: give equal weights to all features that vary; give all weight to
        the one with the largest margin, which is the best of a bad lot; or raise.""",
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
    """Put the paragraphs into the docstring of a class, in place of their names.

    Parameters
    ----------
    cls : type
        Whose docstring, if it has one, names paragraphs as ``%(name)s``.

    Returns
    -------
    type
        The same class.
    """
    text = cls.__doc__
    if text is not None:  # Python can be told to drop docstrings.
        for name, paragraph in PARAGRAPHS.items():
            text = text.replace(f"    %({name})s", paragraph).replace(f"%({name})s", paragraph)
        cls.__doc__ = text
    return cls
