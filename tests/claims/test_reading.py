"""Bundles become runs again, the same to the bit, in a folder that is gone afterwards."""

import json

import pytest
from forgery import members_of, sealed, write_zip

from mfbench.api import load_run
from mfbench.errors import UsageError
from mfbench.run.store.store import Store
from mfbench_claims.reading import opened_bundles

TABLES = ("datasets", "splits", "plan", "trials", "left_out", "checksums")


def rows(folder, table):
    with Store(folder, read_only=True) as store:
        return list(store.raw(f"SELECT * FROM {table} ORDER BY 1, 2"))


def test_a_bundle_has_the_results_of_its_run_to_the_bit(small_run, small_claim):
    with opened_bundles([small_claim, small_claim]) as (bundle, other):
        assert bundle.folder != other.folder
        for table in TABLES[:-1]:
            assert rows(bundle.folder, table) == rows(small_run, table)
        one, two = load_run(bundle.folder), load_run(small_run)
        assert one.scores.equals(two.scores) and not one.remarks
        assert bundle.name.startswith("claim.zip (sha256 ") and bundle.results.folder == bundle.folder
    assert not bundle.folder.exists() and not other.folder.exists()


def test_manifests(subtests, small_claim, tmp_path):
    for changes, expected in [
        ({"format": 2}, "this version of mfbench cannot read its manifest: format"),
        ({"kind": "photo-album"}, "this version of mfbench cannot read its manifest: kind"),
        ({"planned": 11}, "its manifest names another suite, profile, or number of trials"),
        ({"suite": "../evil"}, "this version of mfbench cannot read its manifest: suite"),
        ({"suite": "other"}, "its manifest names another suite, profile, or number of trials"),
        ({"members": {"plan.jsonl": {"sha256": "0" * 64, "size": 1, "rows": 1}}}, "cannot read its manifest: members"),
        ({"extra": 1}, "this version of mfbench cannot read its manifest: extra"),
        ({"members": {}}, "differs from the checksum in its manifest"),
    ]:
        with subtests.test(changes=changes, expected=expected):
            members = sealed(members_of(small_claim))
            members["manifest.json"] = json.dumps(json.loads(members["manifest.json"]) | changes).encode()
            with (
                pytest.raises(UsageError, match=expected),
                opened_bundles([write_zip(members, tmp_path / "claim.zip")]),
            ):
                pass
