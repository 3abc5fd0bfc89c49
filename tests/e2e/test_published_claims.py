"""The bundles of the published reports: a sample of each is verified where the bundle and the datasets are present.

The sample is the same in every run, so that a change of results fails where it is made and not by chance later on; the
nightly run has a larger one that differs from night to night.
"""

import os
import tomllib
from pathlib import Path

import pytest

import mfbench

ROOT = Path(__file__).resolve().parents[2]
with (ROOT / "reports" / "published.toml").open("rb") as file:
    FOLDERS = [entry["folder"] for entry in tomllib.load(file)["report"]]
SAMPLE, SEED, NIGHTLY_SAMPLE = 60, 2020, 400
# With another processor, LMNN and the order of nearly equal pairs of LFE differ in about one of twenty sampled results.
MOST_DIFFERENT = 3


SAMPLES = [
    pytest.param(SAMPLE, SEED, marks=pytest.mark.slow(reason="runs published trials again"), id="fixed"),
    pytest.param(NIGHTLY_SAMPLE, None, marks=pytest.mark.nightly(reason="runs hundreds of them"), id="random"),
]


@pytest.mark.parametrize(("sample", "seed"), SAMPLES)
@pytest.mark.parametrize("folder", FOLDERS)
def test_a_sample_of_each_published_report(folder, sample, seed):
    claims = [ROOT / place / folder / "claim.zip" for place in ("dist", "reports")]
    claim = next((path for path in claims if path.is_file()), None)
    if claim is None:
        pytest.skip(f"its bundle is not in git; '.ci/publish {folder}' makes it")
    verification = mfbench.verify_bundle(claim, sample=sample, seed=seed, offline=True)
    if verification.counts["not run"] == len(verification.trials) and not os.environ.get("MFBENCH_DATA_DIR"):
        pytest.skip("its datasets come from a mirror, and MFBENCH_DATA_DIR names none")
    different = [f"{trial.name}: {trial.detail}" for trial in verification.trials if trial.outcome == "different"]
    is_elsewhere = any("processor" in difference for difference in verification.differences)
    allowed = MOST_DIFFERENT * sample // 20 if is_elsewhere else 0
    assert len(different) <= allowed, f"--seed {verification.seed}: {different}, although {verification.differences}"
    assert not verification.changed and verification.compared
