"""A dataset as a Parquet file and plain values; tests/data/test_cache.py sends arbitrary bits through both."""

from dataclasses import replace

import numpy as np
import pytest

from mfbench.data.parquet import from_parquet, to_parquet


def test_values_come_back_to_the_bit(dataset):
    back = from_parquet(*to_parquet(dataset))
    assert back.X.tobytes() == np.ascontiguousarray(dataset.X).tobytes()
    assert back.y.tolist() == dataset.y.tolist()
    for name in ("feature_names", "class_names", "categories", "encoding", "relevant", "interactions", "license"):
        assert getattr(back, name) == getattr(dataset, name)


def test_a_file_that_does_not_fit_its_card_is_refused(dataset):
    data, _ = to_parquet(dataset)
    _, shorter = to_parquet(replace(dataset, X=dataset.X[:3], y=dataset.y[:3]))
    with pytest.raises(ValueError, match="its table has 4 rows and 3 features, its card says 3 and 3"):
        from_parquet(data, shorter)
    with pytest.raises(ValueError, match="not a Parquet file"):
        from_parquet(b"nothing", shorter)
