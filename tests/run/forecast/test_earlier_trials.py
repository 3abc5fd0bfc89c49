"""Reading earlier trials: this store, others beside it, and whatever may be wrong with them."""

import math
import shutil
from dataclasses import replace

import pytest
from small_claims import small_run
from tampering import changed

from mfbench.api import Request, prepare_suite
from mfbench.run.forecast import costs as module
from mfbench.run.forecast.costs import FARTHEST, LearnedCosts, earlier_trials
from mfbench.run.store.file import FILE_NAME
from mfbench.suite.costs import DeclaredCosts

__all__ = ["small_run"]  # a fixture


@pytest.fixture
def run(small_run, tmp_path):
    """Return a plan, its declared costs and a folder with its results."""
    folder = tmp_path / "out" / "own" / small_run.name
    shutil.copytree(small_run, folder)
    plan, _, registry = prepare_suite(Request(str(small_run.parents[2] / "own.toml"), out=tmp_path / "out"))
    return plan, DeclaredCosts(plan, registry), folder


def change(folder, statement):
    with changed(folder) as db:
        db.execute(statement)


def cells(run):
    plan, declared, folder = run
    return {one.method: one for one in earlier_trials(plan, declared, folder)}


def test_there_need_not_be_a_folder(prepared):
    plan, folder, registry = prepared
    assert earlier_trials(plan, DeclaredCosts(plan, registry), folder) == []
    assert not folder.exists()


def test_the_ratio_is_that_of_the_sums_of_all_folds(run):
    plan, declared, folder = run
    change(folder, "UPDATE trials SET duration = 0.5, peak_memory = 4000000")
    one = cells(run)["A"]
    expected = sum(declared.of(t).seconds for t in plan.trials if t.method == "A")
    assert one.log_ratio == pytest.approx(math.log(1.5 / expected))
    assert (one.dataset, one.memory) == ("iris", 4000000)


def test_a_timeout_counts_as_twice_the_limit_so_that_the_next_one_is_expected(run):
    plan, declared, folder = run
    one = next(trial for trial in plan.trials if trial.method == "C")
    seconds = declared.of(one).seconds
    declared._costs.clear()
    limit = declared.limit = 30 * seconds
    plan.loaded = replace(plan.loaded, protocol=plan.loaded.protocol.model_copy(update={"timeout": limit}))
    change(folder, "UPDATE trials SET duration = 1e-4")
    of_c = "SELECT key FROM plan WHERE method = 'C'"
    change(folder, f"UPDATE trials SET status = 'timeout', duration = NULL WHERE key IN ({of_c})")
    assert cells(run)["C"].log_ratio == pytest.approx(math.log(2 * 30))
    learned = LearnedCosts(declared, earlier_trials(plan, declared, folder))
    assert {trial.method for trial in plan.trials if learned.of(trial).is_too_long} == {"C"}


def test_failures_have_no_time_that_counts(subtests, run):
    for status in ["crash", "error", "memory", "unheard of"]:
        with subtests.test(status=status):
            change(run[2], f"UPDATE trials SET status = '{status}'")
            assert {one.log_ratio for one in cells(run).values()} <= {None}


def test_durations_that_are_none_do_not_count(subtests, run):
    for value in ["NULL", "-1.0", "1e300", "9e999", "'soon'", "x'00'"]:
        with subtests.test(value=value):
            change(run[2], f"UPDATE trials SET duration = {value}")
            assert {one.log_ratio for one in cells(run).values()} <= {None}


def test_a_time_of_zero_is_a_short_time(run):
    change(run[2], "UPDATE trials SET duration = 0.0")
    assert all(-FARTHEST <= one.log_ratio < 0 for one in cells(run).values())


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM trials",
        "DELETE FROM plan",
        "PRAGMA user_version = 99",
        "UPDATE plan SET fold = 77",
        "UPDATE plan SET fold = 'first'",
        "UPDATE plan SET dataset = 'elsewhere'",
        "UPDATE plan SET method = NULL WHERE 0",
        "UPDATE trials SET peak_memory = 'much'",
    ],
)
def test_whatever_a_store_holds_an_estimate_can_be_made(statement, run):
    change(run[2], statement)
    for one in cells(run).values():
        assert one.log_ratio is None or math.isfinite(one.log_ratio)


@pytest.mark.parametrize("content", [b"", b"not a database" * 1000])
def test_a_file_that_is_not_a_store_is_passed_over(content, run):
    for path in run[2].glob(f"{FILE_NAME}*"):
        path.unlink()
    (run[2] / FILE_NAME).write_bytes(content)
    assert cells(run) == {}
    assert (run[2] / FILE_NAME).read_bytes() == content


class TestOthers:
    @pytest.fixture
    def beside(self, run):
        """Move the results beside the run, as those of another run."""
        folder = run[2]
        other = folder.parent.parent / "another" / "standard-0"
        other.parent.mkdir()
        shutil.move(folder, other)
        change(other, "UPDATE trials SET select_wall = 0.1, fit_wall = 0.2, predict_wall = 0.3")
        return other

    def test_their_fits_count(self, run, beside):
        plan, declared, _ = run
        found = cells(run)
        assert set(found) == set("ABCD")
        one = declared.one_fit(plan.methods["A"], 100, 4, 3)
        assert found["A"].log_ratio == pytest.approx(min(FARTHEST, math.log(0.6 / one)), rel=0.01)

    def test_they_are_only_read(self, run, beside):
        before = (beside / FILE_NAME).read_bytes()
        cells(run)
        assert (beside / FILE_NAME).read_bytes() == before

    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE meta SET value = '{}'",
            "UPDATE meta SET value = 'no JSON'",
            "DELETE FROM meta",
            "UPDATE datasets SET sha256 = 'of other data'",
            "UPDATE trials SET fit_wall = NULL",
            "UPDATE trials SET fit_wall = 'x', select_wall = -1e9",
            """UPDATE meta SET value = '{"cpu": "of another machine"}' WHERE name = 'environment'""",
            "UPDATE plan SET method = 'Z'",
        ],
    )
    def test_those_that_cannot_be_used_are_passed_over(self, statement, run, beside):
        change(beside, statement)
        assert cells(run) == {}

    def test_the_own_store_comes_first(self, run):
        folder = run[2]
        other = folder.parent / "standard-0"
        shutil.copytree(folder, other)
        own = cells(run)
        change(other, "UPDATE trials SET fit_wall = 900.0")
        assert cells(run) == own
        change(folder, "DELETE FROM plan WHERE method = 'A'")
        assert cells(run)["A"].log_ratio > own["A"].log_ratio

    def test_only_the_latest_are_read_and_none_that_is_very_large(self, run, beside, monkeypatch):
        monkeypatch.setattr(module, "LARGEST", 10)
        assert cells(run) == {}
        monkeypatch.setattr(module, "LARGEST", 10**9)
        monkeypatch.setattr(module, "STORES", 0)
        assert cells(run) == {}
