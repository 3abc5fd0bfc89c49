"""Writing bundles from Python."""

import sys
from pathlib import Path

import pytest

import mfbench
from mfbench.errors import UsageError
from mfbench_claims.api import bundle_runs

sys.path.append(str(Path(__file__).parent / "run"))
from small_claims import small_claim, small_run

__all__ = ["small_claim", "small_run"]  # fixtures


def test_a_run_or_its_path(small_run, small_claim, tmp_path):
    for run in (small_run, str(small_run), mfbench.load_run(small_run)):
        path = mfbench.bundle_run(run, tmp_path / "claim.zip")
        assert path.read_bytes() == small_claim.read_bytes()
    with pytest.raises(UsageError, match="holds no run"):
        mfbench.bundle_run(tmp_path, tmp_path / "claim.zip")


def test_several_runs(small_run, tmp_path):
    (tmp_path / "twin").symlink_to(small_run)
    (one,) = bundle_runs([str(small_run)], tmp_path / "some" / "x.ZIP")
    assert one.path == tmp_path / "some" / "x.ZIP"
    (one,) = bundle_runs(["own"], tmp_path / "reports", out=small_run.parents[1])
    assert one.path == tmp_path / "reports" / "own" / "claim.zip" and one.results == 12
    for target, expected in (("x.zip", "is one file: name a folder"), ("more", "several runs of the suite own")):
        with pytest.raises(UsageError, match=expected):
            list(bundle_runs([str(small_run), str(tmp_path / "twin")], tmp_path / target))
        assert not (tmp_path / target).exists()
