"""Algorithm 1 against sorting, dense linear algebra and a standard solver; 520 problems at night."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mfbench_sqpfw._active_set.descent import OPTIMAL, STALLED
from mfbench_sqpfw._active_set.quadratic_program import (
    ALPHA_TOLERANCE,
    NONE,
    WEIGHT,
    find_release,
    objective,
    towards_target,
)
from mfbench_sqpfw._active_set.ranking import begin
from mfbench_sqpfw._active_set.state import DW, MULTIPLIERS, POSITIVE, TIES


def test_every_step(oracles, problem_seed):
    """After every step w is better, feasible and consistent; the multipliers are those of the dense KKT system."""
    X, y, kappa, lam, theta, tied = oracles.problem(problem_seed)
    data = oracles.prepared(X, y, kappa, lam)
    s, ended = begin(data), []
    last = objective(s, theta)
    assert last == pytest.approx(
        oracles.loss_value(data.X, data.codes, data.bar, data.bar, kappa, lam, theta), abs=1e-9
    )
    for k, value in enumerate(oracles.run(s, theta, ended=ended)):
        assert value <= last + 1e-11
        last = value
        w = oracles.weights(s)
        assert w.min() >= 0
        assert w.sum() == pytest.approx(1, abs=1e-9)
        worst, sizes = oracles.inconsistency(s)
        assert sizes
        assert worst < 1e-8
        if k < 5 or k % 20 == 0:
            check_kkt(oracles, s, theta)
    assert last == pytest.approx(
        oracles.loss_value(data.X, data.codes, oracles.weights(s), data.bar, kappa, lam, theta), abs=1e-9
    )
    if tied and ended == [STALLED]:
        return
    assert ended == [OPTIMAL]
    check_kkt(oracles, s, theta)
    assert_allclose(oracles.standard_qp(s, theta), oracles.weights(s), rtol=0, atol=1e-7)
    check_structure(s, theta)


def check_kkt(oracles, s, theta):
    solution, expected = oracles.dense_kkt(s, theta)
    ties, n_targets = int(s.counts[TIES]), len(s.targets)
    towards_target(s, theta)
    p = int(s.counts[POSITIVE])
    step = np.zeros(len(s.w))
    step[s.perm[:p]] = s.scratch[DW, :p]
    assert_allclose(oracles.weights(s) + step, solution, rtol=0, atol=1e-9)
    kind, where, _ = find_release(s, theta)
    ours = s.scratch[MULTIPLIERS, : ties + 1]
    size = 1e-8 * max(1.0, theta)
    assert ours[0] == pytest.approx(expected["phi"], abs=size)
    for k in range(ties):
        assert ours[k + 1] == pytest.approx(expected[int(s.tie_row[k]), int(s.tie_member[k])], abs=size)
    for row in range(2 * n_targets):
        total = sum(value for name, value in expected.items() if isinstance(name, tuple) and name[0] == row)
        assert total == pytest.approx((1 if row < n_targets else -1) * theta / n_targets, abs=size)
    alpha = {name: value for name, value in expected.items() if isinstance(name, int)}
    if kind == WEIGHT:
        assert alpha[int(s.perm[where])] == pytest.approx(max(alpha.values()), abs=size)
    elif kind == NONE and alpha:
        assert max(alpha.values()) <= ALPHA_TOLERANCE + size


def check_structure(s, theta):
    """Hits tie only after the others of the kappa nearest, misses only before; all multipliers have the right sign."""
    ties, n_targets = int(s.counts[TIES]), len(s.targets)
    towards_target(s, theta)
    find_release(s, theta)
    values = s.scratch[MULTIPLIERS, 1 : ties + 1]
    g = theta / n_targets
    for row in range(2 * n_targets):
        if s.n_ties[row] == 0:
            continue
        own = values[s.tie_row[:ties] == row]
        all_values = np.append(own, (g if row < n_targets else -g) - own.sum())
        need = s.need[row // n_targets]
        if row < n_targets:
            assert s.n_less[row] + s.n_ties[row] + 1 == need
            assert all_values.min() >= -1e-7 * g
        else:
            assert s.n_less[row] == need - 1
            assert all_values.max() <= 1e-7 * g


def test_class_with_no_hit_to_spare(oracles):
    """A class of kappa + 1 members: H> is empty, so nothing can be released there."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(24, 4)), np.r_[np.zeros(4, int), np.ones(20, int)]
    s = begin(oracles.prepared(X, y, 3, 2))
    for _ in oracles.run(s, 2.0):
        worst, sizes = oracles.inconsistency(s)
        assert sizes
        assert worst < 1e-9
