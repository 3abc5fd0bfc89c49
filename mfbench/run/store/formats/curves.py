"""The form in which a trial's curve is stored: compressed JSON."""

from __future__ import annotations

import json
import zlib

import numpy as np

from mfbench.model.trials import Curve
from mfbench.run.store.formats.candidates import plain


def pack_curve(curve: Curve) -> bytes:
    """Return a curve as compressed JSON."""
    content = {
        "sizes": curve.sizes.tolist(),
        "metrics": curve.metrics,
        "scores": curve.scores.tolist(),
        "seconds": curve.seconds.tolist(),
        "chosen": curve.chosen,
    }
    return zlib.compress(json.dumps(content, default=plain).encode())


def unpack_curve(blob: bytes) -> Curve:
    """Return the curve that `pack_curve` packed; a `ValueError` if the content cannot be one."""
    content = json.loads(zlib.decompress(blob))
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
