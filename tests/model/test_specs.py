"""Specs refuse bad names and loose arguments; a dataset tells its size."""

import dataclasses
import subprocess
import sys

import numpy as np
import pytest

from mfbench.model.specs import ClassifierSpec, Dataset, DatasetSpec, SelectorSpec, check_name

BAD_NAMES = ["", "-", "a-", "-a", "a--b", "A", "a b", "a_b", "a.b", "é", "a\n", "a(b)", "２"]


def test_good_names(subtests):
    for name in ["a", "7", "svm-rbf", "k2-n3-x"]:
        with subtests.test(name=name):
            check_name(name)


def test_every_spec_refuses_a_bad_name_and_says_so(subtests):
    for spec in [
        lambda name: SelectorSpec(name=name, summary="", factory="m:C"),
        lambda name: ClassifierSpec(name=name, summary="", factory="m:C"),
        lambda name: DatasetSpec(name=name, summary="", loader="m:f"),
    ]:
        for name in BAD_NAMES:
            with subtests.test(spec=spec, name=name):
                with pytest.raises(ValueError, match="is not a valid name") as caught:
                    spec(name)
                assert repr(name) in str(caught.value)


def test_specs_are_made_by_keyword_and_do_not_change():
    with pytest.raises(TypeError):
        SelectorSpec("a", "", "m:C")
    spec = SelectorSpec(name="a", summary="", factory="m:C")
    with pytest.raises(dataclasses.FrozenInstanceError):
        spec.name = "b"


def test_two_specs_do_not_share_their_empty_mappings():
    first, second = (SelectorSpec(name=name, summary="", factory="m:C") for name in "ab")
    assert first.defaults is not second.defaults
    assert first.grid is not second.grid


def test_a_dataset_counts_declared_classes_not_those_present():
    dataset = Dataset(
        name="d",
        X=np.zeros((3, 2)),
        y=np.zeros(3, np.int64),
        class_names=("a", "b"),
        feature_names=("x", "y"),
        categorical=np.zeros(2, bool),
    )
    assert (dataset.n_samples, dataset.n_features, dataset.n_classes) == (3, 2, 2)


def test_datasets_compare_by_identity():
    """Comparing arrays has no single truth; equality must not raise."""
    make = lambda: Dataset(  # noqa: E731
        name="d", X=np.zeros((1, 1)), y=np.zeros(1), class_names=(), feature_names=("x",), categorical=np.zeros(1, bool)
    )
    assert make() != make()


def test_the_nouns_load_no_numeric_library():
    code = (
        "import sys, mfbench.model.specs, mfbench.model.trials; "
        "print(sorted({'numpy', 'sklearn', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
