"""Growth is measured and shown beside what the spec declares; nothing about it fails."""

from types import SimpleNamespace

import pytest

from mfbench_check.checks import building
from mfbench_check.checks.building import exponent, grows_as_declared
from mfbench_check.display import CheckFailedError, NotApplicableError


class Stub:
    """A subject whose fit takes as long as a formula says."""

    seed = 0

    def __init__(self, clock, cost, complexity=""):
        self.clock, self.cost, self.spec = clock, cost, SimpleNamespace(complexity=complexity)

    def fit(self, X, y):
        self.clock[0] += self.cost(*X.shape)


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(building.time, "perf_counter", lambda: now[0])
    return now


def test_the_measured_exponents_stand_beside_the_declared_ones(clock):
    remark = grows_as_declared(Stub(clock, lambda n, p: 1e-8 * n**2 * p, "n * p"))
    assert "time grows as rows^2.0 (declared 1.0)" in remark
    assert "time grows as features^1.0 (declared 1.0)" in remark
    assert remark.endswith("declared n * p")


def test_the_constant_part_of_a_formula_does_not_hide_its_growth(clock):
    remark = grows_as_declared(Stub(clock, lambda n, p: 1e-8 * n**2 * p, "5e-1 + 3e-9 * n**2 * p"))
    assert "time grows as rows^2.0 (declared 2.0)" in remark
    assert "time grows as features^1.0 (declared 1.0)" in remark


def test_an_axis_is_left_out_if_a_fit_is_too_quick(clock):
    remark = grows_as_declared(Stub(clock, lambda n, p: 1e-9 * n**2 * (p == building.FEATURES)))
    assert "features" not in remark
    assert remark.endswith("none declared")


@pytest.mark.parametrize("seconds", [1e-9, 100.0])
def test_nothing_can_be_seen_of_very_quick_and_very_slow_fits(seconds, clock):
    with pytest.raises(NotApplicableError):
        grows_as_declared(Stub(clock, lambda n, p: seconds))


def test_the_time_of_all_fits_is_limited(clock):
    grows_as_declared(Stub(clock, lambda n, p: 1e-7 * n**2 * p))
    assert clock[0] < 2 * 2 * building.SECONDS


@pytest.mark.parametrize("formula", ["0 * n", "n p", "log(1)"])
def test_a_formula_that_cannot_be_evaluated_is_not_compared(formula, clock):
    assert "(declared" not in grows_as_declared(Stub(clock, lambda n, p: 1e-8 * n**2 * p, formula))


def test_a_table_that_the_method_refuses_ends_the_measurement(clock):
    def cost(n, p):
        if n > 1000:
            raise CheckFailedError("a fit", "too many rows")
        return 1e-6 * n * p * p

    assert "rows^1.0" in grows_as_declared(Stub(clock, cost))


def test_the_exponent_is_that_of_a_doubling():
    assert exponent([1.0, 2.0]) == 1.0
