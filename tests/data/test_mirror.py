"""A mirror is trusted only as far as its index can be checked."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfbench.data.mirror import Mirror
from mfbench.data.reference import NAME
from mfbench.errors import DataError, UnknownNameError, UsageError

SHARED = os.environ.get("MFBENCH_DATA_DIR", "")


def test_a_dataset_is_read_with_its_card(write_mirror):
    mirror = Mirror(write_mirror())
    assert mirror.names() == ["things"]
    assert "things" in mirror
    assert mirror.card("things")["title"] == "Twelve things"
    data = mirror.load("things")
    assert (data.n_samples, data.n_features, data.class_names) == (12, 3, ("mine", "rock"))
    assert data.feature_names == ("size", "colour", "code")
    assert data.categorical.tolist() == [False, True, True]
    assert (data.source, data.license, data.citation) == ("a shelf", "CC0", "")


def test_what_is_optional_may_be_missing(write_mirror):
    mirror = Mirror(write_mirror(drop=("title", "categorical", "license", "source", "notes", "n_classes")))
    assert mirror.load("things").categorical.tolist() == [False, True, False]


def test_an_empty_cell_is_a_missing_value(write_mirror):
    text = "a,class\n1,x\n,y\n3,x\n"
    data = Mirror(write_mirror(text=text, n_samples=3, n_features=1, class_counts={"x": 2, "y": 1}, categorical=[]))
    assert np.isnan(data.load("things").X[1, 0])


def test_what_is_not_as_the_card_says_is_refused_with_both(subtests, write_mirror):
    for number, (changes, words) in enumerate(
        [
            ({"sha256": "0" * 64}, ["is damaged", "has the SHA-256", "index.toml says " + "0" * 64]),
            ({"n_samples": 13}, ["12 rows, 3 features and 2 classes", "says 13, 3 and 2"]),
            ({"n_features": 4}, ["12 rows, 3 features and 2 classes", "says 12, 4 and 2"]),
            ({"class_counts": {"mine": 7, "rock": 5}}, ["'mine': 6, 'rock': 6", "'mine': 7, 'rock': 5"]),
            ({"categorical": ["colr"]}, ["colr"]),
        ]
    ):
        with subtests.test(changes=changes, words=words):
            with pytest.raises(DataError) as caught:
                Mirror(write_mirror(folder=f"mirror-{number}", **changes)).load("things")
            assert all(word in str(caught.value) for word in words)
            assert "\n" not in str(caught.value)


def test_a_truncated_or_missing_file(write_mirror):
    folder = write_mirror()
    path = folder / "things.csv.gz"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(DataError, match=r"things.csv.gz has the SHA-256"):
        Mirror(folder).load("things")
    path.unlink()
    with pytest.raises(DataError, match=r"things.csv.gz cannot be read"):
        Mirror(folder).load("things")


def test_an_index_that_is_not_valid_is_one_sentence(subtests, write_mirror):
    for number, (changes, words) in enumerate(
        [
            ({"drop": ("sha256",)}, "things.sha256: Field required"),
            ({"drop": ("class_counts",)}, "things.class_counts: Field required"),
            ({"n_samples": "12"}, "things.n_samples: Input should be a valid integer"),
            ({"n_features": True}, "things.n_features: Input should be a valid integer"),
            ({"class_counts": {"a": 0.5}}, "things.class_counts.a: Input should be a valid integer"),
            ({"categorical": "code"}, "things.categorical: Input should be a valid list"),
            ({"sha256": "../../etc"}, "things.sha256: String should match pattern"),
            ({"license": 3}, "things.license: Input should be a valid string"),
        ]
    ):
        with subtests.test(changes=changes, words=words):
            with pytest.raises(UsageError) as caught:
                Mirror(write_mirror(folder=f"mirror-{number}", **changes))
            assert words in str(caught.value)
            assert "is not a mirror of datasets: index.toml" in str(caught.value)


def test_other_files_for_an_index(subtests, tmp_path):
    for content in [b"[a", b"\xff", b"a = 1\n", b"[[a]]\n"]:
        with subtests.test(content=content):
            (tmp_path / "index.toml").write_bytes(content)
            with pytest.raises(UsageError, match=r"is not a mirror of datasets: index.toml"):
                Mirror(tmp_path)


def test_a_folder_without_an_index(tmp_path):
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(UsageError, match=r"has no index.toml; name the folder that has one$"):
            Mirror(folder)


def test_an_unknown_name_is_answered_with_the_nearest(write_mirror):
    mirror = Mirror(write_mirror())
    with pytest.raises(UnknownNameError, match=r"did you mean 'things'"):
        mirror.load("thing")


def test_names_of_an_index_cannot_leave_the_folder(subtests, write_mirror, tmp_path):
    (tmp_path / "things.csv.gz").write_bytes(gzip.compress(b"a,class\n1,x\n2,y\n"))
    for number, name in enumerate(["../things", "a/b", "a\\b", "/etc/passwd", "C:things", ".things", "", "a b"]):
        with subtests.test(name=name):
            folder = write_mirror(folder=f"mirror-{number}")
            index = folder / "index.toml"
            index.write_text(index.read_text().replace('"things"', "'" + name + "'"))
            with pytest.raises(UsageError, match="String should match pattern"):
                Mirror(folder)


@given(st.text(max_size=20))
def test_no_name_is_a_path(name):
    if NAME.fullmatch(name):
        path = Path("folder") / f"{name}.csv.gz"
        assert path.parent == Path("folder")
        assert not name.startswith(".")


@pytest.mark.skipif(not SHARED, reason="MFBENCH_DATA_DIR is not set")
def test_every_dataset_of_the_mirror_loads_with_the_shape_of_its_card():
    mirror = Mirror(Path(SHARED))
    assert mirror.names()
    for name in mirror.names():
        card, data = mirror.card(name), mirror.load(name)
        assert (data.n_samples, data.n_features) == (card["n_samples"], card["n_features"])
        assert int(np.isnan(data.X).sum()) == card["missing"]


def test_files_that_are_apart_are_stacked(write_mirror, tmp_path):
    folder = write_mirror(
        text="a,b,class\n1,2,x\n3,4,y\n", n_samples=2, n_features=2, categorical=[], class_counts={"x": 1, "y": 1}
    )
    index = (folder / "index.toml").read_text()
    (folder / "index.toml").write_text(index + "\n" + index.replace('["things"]', '["more"]'))
    (folder / "more.csv.gz").write_bytes((folder / "things.csv.gz").read_bytes())
    mirror = Mirror(folder)
    assert "things+more" in mirror and "things+none" not in mirror
    data = mirror.load("things+more")
    assert data.X.tolist() == [[1, 2], [3, 4], [1, 2], [3, 4]] and data.y.tolist() == [0, 1, 0, 1]
    with pytest.raises(UnknownNameError):
        mirror.load("things+none")
