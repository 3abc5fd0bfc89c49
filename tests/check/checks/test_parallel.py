import pytest
from opening import opened, remark

from mfbench_check.checks import repeatable
from mfbench_check.display import NotApplicableError


def test_jobs_do_not_apply_to_a_method_without_the_parameter():
    with pytest.raises(NotApplicableError, match="it has no parameter n_jobs"):
        remark("n-jobs", opened("correct_methods", "mean-gap", "selector"))


def test_threads_do_not_apply_without_a_library_that_has_any(monkeypatch):
    monkeypatch.setattr(repeatable, "threadpool_info", list)
    with pytest.raises(NotApplicableError, match="no library with threads"):
        remark("blas-threads", opened("correct_methods", "mean-gap", "selector"))


def test_rounding_is_not_a_difference(monkeypatch):
    answers = iter([[1.0, 0.0], [1.0 + 1e-8, 1e-8]])
    monkeypatch.setattr(repeatable, "answer", lambda subject: repeatable.np.array(next(answers)))
    assert remark("blas-threads", opened("correct_methods", "mean-gap", "selector")) is None
