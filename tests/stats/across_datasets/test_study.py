"""What claims over datasets promise, on benchmarks simulated from a real run: see study.py for the designs."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from study import coverage, found_pairs, joint_coverage, wrong_families

pytestmark = pytest.mark.slow(reason="hundreds of simulated benchmarks")
DRAWS = 600


@pytest.mark.parametrize(
    ("design", "n_datasets", "limits"),
    [
        ("exchangeable", 8, (None, 0.07)),
        ("exchangeable", 13, (None, 0.07)),
        ("blocks", 13, (None, 0.07)),
        ("finite", 13, (0.07, 0.07)),
        ("skewed", 13, (None, 0.085)),
        ("folds", 13, (0.05, 0.07)),
    ],
)
def test_few_families_have_a_wrong_claim(design, n_datasets, limits):
    shares = wrong_families(design, n_datasets, 5, DRAWS)
    assert all(limit is None or share <= limit for share, limit in zip(shares, limits, strict=True)), shares


@pytest.mark.parametrize(("n_datasets", "n_methods", "draws", "of_these"), [(13, 5, 300, 2.0), (31, 5, 200, 1.4)])
def test_more_is_found_than_by_wilcoxon(n_datasets, n_methods, draws, of_these):
    these, others, wilcoxon = found_pairs(n_datasets, n_methods, draws)
    assert these >= of_these * wilcoxon
    assert others >= (1.25 if n_datasets == 13 else 1.0) * wilcoxon


def test_many_methods_on_few_datasets_are_told_apart():
    these, others, wilcoxon = found_pairs(13, 26, 40)
    assert wilcoxon == 0.0, "the smallest p-value exceeds the strictest step of Holm's method"
    assert others > 0.04 and these > 0.15


def test_nothing_is_claimed_of_others_on_five_datasets():
    these, others, _ = found_pairs(5, 5, 100)
    assert others == 0.0 and these > 0.15


def test_intervals_cover():
    assert min(coverage(13, 100)) >= 0.93


def test_intervals_for_all_pairs_cover_together():
    assert min(joint_coverage(13, 150)) >= 0.9
