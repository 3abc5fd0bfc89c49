"""Mirrors and datasets in a few lines."""

import gzip
import hashlib
import json

import numpy as np
import pytest

from mfbench import Dataset

ROWS = "size,colour,code,class\n" + "".join(
    f"{size},{'red' if size % 3 else 'blue'},{size % 4},{'mine' if size % 2 else 'rock'}\n" for size in range(1, 13)
)
CARD = {
    "title": "Twelve things",
    "n_samples": 12,
    "n_features": 3,
    "n_classes": 2,
    "class_counts": {"mine": 6, "rock": 6},
    "categorical": ["code"],
    "license": "CC0",
    "source": "a shelf",
    "notes": "made up",
}


def toml(value):
    """Return a value as TOML: JSON but for tables."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + " }"
    return json.dumps(value)


@pytest.fixture
def write_mirror(tmp_path):
    """Return a function that writes a mirror of one dataset, whose card can be changed, and returns its folder."""

    def write(name="things", text=ROWS, folder="mirror", drop=(), **changes):
        place = tmp_path / folder
        place.mkdir(exist_ok=True)
        data = gzip.compress(text.encode(), mtime=0)
        (place / f"{name}.csv.gz").write_bytes(data)
        card = {**CARD, "sha256": hashlib.sha256(data).hexdigest(), **changes}
        lines = [f"{key} = {toml(value)}" for key, value in card.items() if key not in drop]
        with (place / "index.toml").open("a", encoding="utf-8") as index:
            index.write(f"[{json.dumps(name)}]\n" + "\n".join(lines) + "\n\n")
        return place

    return write


@pytest.fixture
def dataset():
    """A dataset with everything that could get lost on the way to the disk and back."""
    X = np.array([[0.1, -0.0, np.nan], [1e-310, 0.0, 1.0], [-1e300, 2.0**-1074, 0.0], [1 / 3, 5.0, 2.0]])
    X[3, 1] = np.array([0x7FF8000000000123], dtype=np.uint64).view(np.float64)[0]  # a NaN with a message
    return Dataset(
        name="every [thing]",
        X=X,
        y=np.array([1, 0, 1, 0]),
        class_names=("no\n", "yes ✓"),
        feature_names=("class", "", "lone \udc80 / ../x"),
        categorical=np.array([False, False, True]),
        categories={"lone \udc80 / ../x": ("a", "b", "\0")},
        encoding="ordinal",
        source="somewhere",
        license="CC0",
        citation="me",
    )
