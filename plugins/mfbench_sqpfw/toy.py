"""Seven points in the plane whose whole path can be followed by hand."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def data() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return four points of one class and three of another; all distances differ.

    The dataset resembles the paper's illustration (supplement G), whose coordinates are not printed. With ``kappa=2``
    the target neighbours change many times until only the first feature has a positive weight.

    Returns
    -------
    X : ndarray of shape (7, 2)
    y : ndarray of shape (7,)

    Examples
    --------
    >>> from mfbench_sqpfw import sqpfw_path, toy
    >>> path = sqpfw_path(*toy.data(), theta_max=2.0, kappa=2)
    >>> of_weights = sum(event.kind.startswith("weight") for event in path.events)
    >>> sum(event.changes for event in path.events) - of_weights  # ties formed and broken
    22
    >>> path.after[:, 0].round(3).tolist()[0], path.after[:, 0].tolist()[-1]
    (0.5, 1.0)
    >>> path.events[-2].kind, path.events[-2].feature
    ('weight vanishes', 1)
    """
    X = [[-0.8, -2.0], [-0.2, 0.6], [1.1, 0.2], [-0.6, -1.2], [1.5, 2.5], [1.1, -1.8], [-0.2, 2.4]]
    return np.array(X), np.array([0, 0, 0, 0, 1, 1, 1])
