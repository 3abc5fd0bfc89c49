"""The bundles of the published reports: a sample of each is verified where the datasets are present."""

import os
from pathlib import Path

import pytest

import mfbench

REPORTS = Path(__file__).resolve().parents[2] / "reports"
CLAIMS = sorted(REPORTS.glob("*/claim.zip"))
SAMPLE = 20


@pytest.mark.slow(reason="runs a sample of the trials of each published report again")
@pytest.mark.skipif(not CLAIMS, reason="no bundle of a published report is there: reports/*/claim.zip")
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda path: path.parent.name)
def test_a_sample_of_each_published_report(claim):
    verification = mfbench.verify_bundle(claim, sample=SAMPLE, offline=True)
    if verification.counts["not run"] == len(verification.trials) and not os.environ.get("MFBENCH_DATA_DIR"):
        pytest.skip("its datasets come from a mirror, and MFBENCH_DATA_DIR names none")
    different = [f"{trial.name}: {trial.detail}" for trial in verification.trials if trial.outcome == "different"]
    assert not different, f"--seed {verification.seed}: {different}, although {verification.differences}"
    assert not verification.changed and verification.compared
