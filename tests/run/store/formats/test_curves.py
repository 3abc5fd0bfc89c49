"""Stored curves come back as they were, from the store too."""

import json
import zlib

import numpy as np
import pytest

from mfbench.model.trials import Curve, Trial, TrialResult
from mfbench.run.store.formats import pack_document, unpack_curve
from mfbench.run.store.store import Store


def curve_of(n_sizes, **changes):
    values = {
        "sizes": np.arange(1, n_sizes + 1),
        "metrics": ("accuracy", "log_loss"),
        "scores": np.random.default_rng(0).random((2, n_sizes)),
        "seconds": np.linspace(0.1, 0.3, n_sizes),
    }
    return Curve(**{**values, **changes})


def assert_equal(one, other):
    for name in ("sizes", "scores", "seconds"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert (one.metrics, one.chosen) == (other.metrics, other.chosen)


@pytest.mark.parametrize(
    "curve",
    [
        curve_of(1),
        curve_of(200),
        curve_of(2, scores=np.array([[0.1, np.nan], [np.inf, 1 / 3]])),
        curve_of(2, chosen=({"n_neighbors": 1}, {"n_neighbors": 3})),
    ],
)
def test_what_is_stored_comes_back(curve, tmp_path):
    assert_equal(unpack_curve(pack_document(curve)), curve)
    trial = Trial("key", "iris", "A", 0, 0, 0)
    with Store(tmp_path) as store:
        store.set_plan([trial])
        assert not store.has_any("curve")
        store.add(trial, TrialResult(key="key", curve=curve))
        (row,) = store.rows(("curve",))
        assert_equal(row["curve"], curve)
        assert store.has_any("curve")


def test_parameters_of_numpy_are_stored_as_plain_numbers():
    back = unpack_curve(pack_document(curve_of(1, chosen=({"C": np.float64(0.5)},))))
    assert back.chosen == ({"C": 0.5},)


def test_what_cannot_be_a_curve_is_refused(subtests):
    for change in [{"sizes": [0, 2, 3]}, {"sizes": [1, 1, 2]}, {"sizes": [3, 2, 1]}, {"sizes": []}, {"seconds": [0.1]}]:
        with subtests.test(change=change):
            content = {**json.loads(zlib.decompress(pack_document(curve_of(3)))), **change}
            with pytest.raises(ValueError, match=r"ascending|reshape"):
                unpack_curve(zlib.compress(json.dumps(content).encode()))
