"""The form in which a trial's curve is stored."""

from __future__ import annotations

import numpy as np

from mfbench.model.trials import Curve
from mfbench.run.store.formats.documents import unpack_document


def unpack_curve(blob: bytes) -> Curve:
    """Return the curve that `pack_document` packed; a `ValueError` if the content cannot be one."""
    content = unpack_document(blob)
    sizes, metrics = np.array(content["sizes"], dtype=np.int64), tuple(content["metrics"])
    ascending = sizes.ndim == 1 and len(sizes) > 0 and sizes[0] >= 1 and (np.diff(sizes) > 0).all()
    if not ascending or len(content["seconds"]) != len(sizes):
        raise ValueError("its sizes are not ascending numbers of features, each with a time")
    return Curve(
        sizes=sizes,
        metrics=metrics,
        scores=np.array(content["scores"], dtype=np.float64).reshape(len(metrics), len(sizes)),
        seconds=np.array(content["seconds"], dtype=np.float64),
        chosen=tuple(content["chosen"]),
    )
