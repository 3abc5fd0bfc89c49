"""Bundles as a source of results."""

from types import SimpleNamespace

import pytest

from mfbench.errors import UsageError
from mfbench_claims.hooks import mfbench_earlier_results


def test_bundles_are_open_until_the_source_is_closed(small_claim):
    source = mfbench_earlier_results(SimpleNamespace(reuse=(small_claim, small_claim)))
    first, second = next(source), next(source)
    assert first.folder.is_dir() and second.folder.is_dir() and first.folder != second.folder
    assert first.name == second.name and first.name.startswith("claim.zip (sha256 ")
    assert (first.is_verified, first.is_requested, first.has_origins) == (False, True, False)
    source.close()
    assert not first.folder.exists() and not second.folder.exists()


def test_all_bundles_are_opened_before_the_first_is_used(small_claim, tmp_path):
    (tmp_path / "bad.zip").write_text("no zip")
    with pytest.raises(UsageError, match=r"bad\.zip is refused as a bundle"):
        next(mfbench_earlier_results(SimpleNamespace(reuse=(small_claim, tmp_path / "bad.zip"))))


def test_a_request_without_bundles_has_none():
    assert list(mfbench_earlier_results(SimpleNamespace(reuse=()))) == []
