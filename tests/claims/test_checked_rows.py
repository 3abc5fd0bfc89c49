"""Rows of bundles whose checksums fit: what they refer to exists, and what they unpack to has the right size."""

import base64
import json
import zlib

import numpy as np
import pytest
from forgery import forged, perfected

from mfbench.errors import UsageError
from mfbench.model.trials import Candidate, Curve, Interactions
from mfbench.run.store.formats import pack, pack_candidates, pack_document
from mfbench_claims import form
from mfbench_claims.reading import opened_bundles


def packed(array):
    return base64.b64encode(pack(np.array(array))).decode()


def first(**values):
    return lambda rows: rows[0].update(values)


def twice(rows):
    rows.append(dict(rows[0]))


def again_under_another_key(rows):
    rows.append({**rows[0], "key": rows[0]["key"][::-1], "position": 99})


def text_of(content):
    return base64.b64encode(content).decode()


def candidates(**values):
    return text_of(pack_candidates([Candidate(chosen={}, **values)]))


PAIRS = Interactions(np.array([[0, 4]]), np.array([0.5]), np.array([1]), None, 1.0, 6)
CURVE = Curve(np.array([1, 5]), ("accuracy",), np.array([[0.5, 0.5]]), np.zeros(2))
BOMB = base64.b64encode(b"f8z" + zlib.compress(bytes(2**22))).decode()
DEEP = "[" * 100_000
CASES = [
    ("trials", twice, "a row of one of its tables is there twice"),
    ("plan", twice, "its key or its trial is there twice"),
    ("plan", again_under_another_key, "its key or its trial is there twice"),
    ("splits", twice, "a row of one of its tables is there twice"),
    ("datasets", twice, "a row of one of its tables is there twice"),
    ("left_out", lambda rows: rows.append({"a": "x", "b": "y", "c": 2, "d": 0, "e": ""}), "left_out.jsonl, is_failure"),
    ("trials", first(key="0" * 32), "its key is not one of the plan"),
    ("trials", first(key="../../evil"), "trials.jsonl, key"),
    ("trials", first(seed=7), "its seed is not that of its trial"),
    ("trials", first(seed=2**70), "trials.jsonl, seed"),
    ("trials", first(status="perfect"), "trials.jsonl, status"),
    ("trials", first(status="error"), "it failed, and yet has results"),
    ("trials", first(duration=float("nan")), "trials.jsonl"),
    ("trials", first(duration=float("inf")), "trials.jsonl"),
    ("trials", first(n_selected=1e300), "trials.jsonl, n_selected"),
    ("trials", first(scores='{"accuracy": "high"}'), "its score 'accuracy' is not a number"),
    ("trials", first(scores='{"accuracy": 1e999}'), "its score 'accuracy' is not a number"),
    ("trials", first(scores="[0.5]"), "its scores have no names"),
    ("trials", first(scores=DEEP), "cannot be decoded"),
    ("trials", first(chosen="[]"), "cannot be decoded|its parameters have no names"),
    ("trials", first(predictions=packed([0, 1])), "its predictions are not 50 numbers"),
    ("trials", first(weights=packed([0.5])), "its weights are not 4 numbers"),
    ("trials", first(selected=packed([0, 4])), "its selected features are not among the 4 features of its dataset"),
    ("trials", first(selected=packed([-1])), "its selected features are not among the 4 features of its dataset"),
    ("trials", first(selected=packed([0.5])), "its selected features are not among the 4 features of its dataset"),
    ("trials", first(decisions=packed([0, 1, 1])), "its decisions are not those of its test rows"),
    ("trials", first(candidates=candidates(weights=np.ones(5))), "its weights are not 4 numbers"),
    ("trials", first(candidates=candidates(scores={"accuracy": "x"})), "its score 'accuracy' is not a number"),
    (
        "trials",
        first(interactions=text_of(pack_document(PAIRS))),
        "its pairs of features are not among the 4 features",
    ),
    ("trials", first(curve=text_of(pack_document(CURVE))), "its sizes of a curve are not among the 4 features"),
    ("trials", first(predictions="?"), "predictions: is not an array of numbers"),
    (
        "trials",
        first(predictions=base64.b64encode(b"O8-cos\nsystem\n").decode()),
        "predictions: is not an array of numbers",
    ),
    ("trials", first(weights=BOMB), "weights: is larger than"),
    ("trials", first(curve=base64.b64encode(b"\x80\x04.").decode()), "cannot be decoded"),
    ("trials", first(candidates=base64.b64encode(zlib.compress(DEEP.encode())).decode()), "cannot be decoded"),
    ("trials", first(interactions=base64.b64encode(zlib.compress(b'{"pairs": 1}')).decode()), "cannot be decoded"),
    ("plan", first(method="NEW"), "it is of a dataset or method that the bundle does not have"),
    ("plan", first(dataset="wine"), "it is of a dataset or method that the bundle does not have"),
    ("plan", first(repeat=1), "its repeat or fold is not one of the protocol"),
    ("plan", first(fold=-1), "plan.jsonl, fold"),
    ("splits", first(sha256="0" * 64), "it is of a dataset that the bundle does not have"),
    ("splits", first(test=packed([150])), "test are not among the 150 rows of its dataset"),
    ("splits", first(test=packed([0.5])), "test are not among the 150 rows of its dataset"),
    ("splits", first(test=packed([0] * 50)), "test have a row twice"),
    ("datasets", first(n_samples=2**62), "datasets.jsonl, n_samples"),
    ("datasets", first(source="x" * (2**22 + 1)), "datasets.jsonl, source"),
    ("splits", lambda rows: rows.pop(0), "the bundle does not have the split of its fold"),
    ("datasets", first(sha256="0" * 64), "it is of a dataset that the bundle does not have"),
    ("datasets", first(class_names='{"a": 1}'), "class_names is not a list"),
    ("datasets", first(collections="{} 1"), "cannot be decoded"),
    ("datasets", first(collections="[1]"), "collections are not labels by name"),
    ("datasets", first(collections="5"), "collections are not labels by name"),
    ("datasets", first(collections='{"a": 1}'), "collections are not labels by name"),
    ("datasets", first(class_names="[1, 2, 3]"), "class_names is not a list of 3 texts"),
    ("datasets", first(feature_names='["x"]'), "feature_names is not a list of 4 texts"),
    ("datasets", first(relevant="[4]"), "its relevant features and pairs are not features of the dataset"),
    ("datasets", first(interactions="[[0, 1, 2]]"), "interactions are not pairs"),
    ("datasets", first(interactions="[[0, true]]"), "its relevant features and pairs are not features of the dataset"),
    ("datasets", first(truth=packed([3] * 150)), "the classes of 'iris' are not those of its rows"),
    ("datasets", first(truth=packed([0, 1])), "another number of targets than of rows"),
    ("metadata", lambda meta: meta.update(methods={"A\x1b[2J": "knn"}), "signs that cannot be printed"),
    ("metadata", lambda meta: meta.update(profile="other"), "its manifest names another suite, profile, or number"),
    ("metadata", lambda meta: meta.pop("protocol"), "its metadata are not valid: protocol: Field required"),
    ("metadata", lambda meta: meta.update(ended_budget=float("nan")), "its metadata are not valid"),
]


@pytest.mark.sampled(8, reason="dozens of forged bundles")
@pytest.mark.parametrize(("table", "change", "expected"), CASES)
def test_a_forged_row_is_named(small_claim, tmp_path, monkeypatch, table, change, expected):
    monkeypatch.setattr(form, "LARGEST_ARRAY", 2**20)
    path = forged(small_claim, tmp_path / "claim.zip", **{table: change})
    with pytest.raises(UsageError, match=expected) as caught, opened_bundles([path]):
        pass
    assert str(caught.value).startswith(f"{path} is refused as a bundle: ") and len(str(caught.value)) < 500


def test_rows_of_another_form(small_claim, tmp_path):
    from forgery import members_of, sealed, write_zip

    for line in (b"{}", b"[]", b"[1]", b"null", b"", b"\xff", b"[" * 10_000, json.dumps(["a"] * 99).encode()):
        members = members_of(small_claim)
        members["plan.jsonl"] = line + b"\n" + members["plan.jsonl"]
        path = write_zip(sealed(members), tmp_path / "claim.zip")
        with pytest.raises(UsageError, match=r"row 1 of its member plan\.jsonl"), opened_bundles([path]):
            pass


@pytest.mark.parametrize("line", [b"[" + b"[]," * 10_000 + b"[]]", b"[" + b'"",' * 99 + b'""]'])
def test_a_row_of_many_values_is_refused(small_claim, tmp_path, line):
    from forgery import members_of, sealed, write_zip

    path = write_zip(sealed(members_of(small_claim) | {"datasets.jsonl": line + b"\n"}), tmp_path / "claim.zip")
    with pytest.raises(UsageError, match=r"row 1 of its member datasets\.jsonl: Tuple"), opened_bundles([path]):
        pass


def test_a_forged_bundle_is_read_if_it_is_consistent(small_claim, tmp_path):
    perfect = perfected(small_claim)
    path = forged(small_claim, tmp_path / "claim.zip", trials=lambda rows: rows[0].update(perfect[rows[0]["key"]]))
    with opened_bundles([path]) as (bundle,):
        assert bundle.manifest.results == 12
