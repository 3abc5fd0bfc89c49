"""What the process that receives results checks: scores by its own labels, and time by its own clock."""

from dataclasses import replace

import numpy as np
import pytest
from small_runs import InProcess, job_of, results_of, started

from mfbench.model.trials import Status, TrialResult
from mfbench.run.workers.answer_check import AnswerCheck, check_clock


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """The job of a small run, and each of its trials with its result."""
    from small_runs import SUITE

    from mfbench.api import Request, prepare_suite

    folder = tmp_path_factory.mktemp("measured")
    (folder / "own.toml").write_text(SUITE)
    plan, _, _ = prepare_suite(Request(str(folder / "own.toml"), out=folder / "out"))
    job = job_of(plan, folder / "data")
    with started(InProcess(), job) as executor:
        return job, results_of(executor, plan.trials)


class TestScores:
    def test_honest_results_are_accepted(self, measured):
        job, results = measured
        check = AnswerCheck(job)
        assert [check(trial, result) for trial, result in results] == [""] * 12

    def test_a_score_that_a_method_wrote_is_refused(self, measured):
        job, results = measured
        trial, result = results[0]
        forged = replace(result, scores=dict.fromkeys(result.scores, 1.0), predictions=np.zeros(50, dtype=int))
        sentence = "its score 'accuracy' is 1, but its predictions give 0.34: its method changes how it is scored"
        assert AnswerCheck(job)(trial, forged) == sentence

    @pytest.mark.parametrize("predictions", [None, "right", np.zeros(3), np.array([None] * 50)])
    def test_a_result_that_cannot_be_scored_is_refused(self, measured, predictions):
        job, results = measured
        trial, result = results[0]
        answer = AnswerCheck(job)(trial, replace(result, predictions=predictions))
        assert answer.startswith("its scores cannot be computed again: ")

    def test_a_failure_has_none(self, measured):
        job, results = measured
        assert AnswerCheck(job)(results[0][0], TrialResult(key="", status=Status.ERROR)) == ""


class TestClock:
    def seconds(self, own, least, most, **changes):
        result = TrialResult(key="", duration=own, fit_wall=own, **changes)
        check_clock(result, least, most)
        return result.duration, result.fit_wall, result.touched

    @pytest.mark.parametrize(
        ("own", "least", "most"), [(1.0, 0.9, 1.5), (1.0, 1.04, 1.5), (0.001, 0.009, 0.02), (1.0, 0.0, 0.96), (2, 0, 2)]
    )
    def test_small_differences_are_none(self, own, least, most):
        assert self.seconds(own, least, most) == (own, own, "")

    def test_a_time_that_is_too_short_is_corrected(self):
        words = "its own clock (0 s, where 1 s went by: these are stored)"
        assert self.seconds(0.0, 1.0, 1.2) == (1.0, 1.0, words)
        assert self.seconds(0.0, 1.0, 1.2, touched="a timer")[2] == f"a timer, {words}"

    def test_a_time_that_is_too_long_is_corrected(self):
        assert self.seconds(5.0, 0.9, 1.0)[:2] == (1.0, 1.0)

    def test_a_clock_that_was_set_counts_no_more_than_went_by_here(self):
        """Such as that of a computer that slept."""
        assert self.seconds(1.0, 3600.0, 1.0) == (1.0, 1.0, "")

    def test_not_a_number(self):
        assert self.seconds(float("nan"), 1.0, 1.2)[0] == 1.0

    def test_a_failure_keeps_its_time(self):
        assert self.seconds(0.0, 1.0, 1.2, status=Status.ERROR) == (0.0, 0.0, "")
