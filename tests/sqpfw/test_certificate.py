"""The certificate detects every kind of violation and accepts optimal weights."""

import numpy as np
import pytest

from mfbench_sqpfw import SQPFeatureWeighting
from mfbench_sqpfw._active_set.ranking import begin
from mfbench_sqpfw._active_set.state import POSITIVE, TIES
from mfbench_sqpfw.certificate import certify


def test_every_violation_is_detected(noisy, oracles):
    X, y = noisy
    s = begin(oracles.prepared(X, y, 1, 1))
    for _ in oracles.run(s, 0.1):
        pass
    data, w = oracles.prepared(X, y, 1, 1), oracles.weights(s)
    ties = [np.array([rep]) for rep in s.rep]
    for k in range(s.counts[TIES]):
        ties[s.tie_row[k]] = np.append(ties[s.tie_row[k]], s.tie_member[k])

    zeros = s.perm[s.counts[POSITIVE] :]

    def check(w=w, theta=0.1, ties=ties):
        return certify(
            data.X,
            data.codes,
            data.targets,
            w=w,
            bar=data.bar,
            theta=theta,
            ties=ties,
            less=[row[:size] for row, size in zip(s.less, s.n_less, strict=True)],
            need=(1, 1),
            zeros=zeros,
        )

    assert check().optimal
    assert not check(theta=0.2).optimal
    assert check(w=w * 1.1).infeasibility == pytest.approx(0.1)
    other = [ties[0][:0], *ties[1:]]
    other[0] = np.array([next(j for j in range(1, 40) if j != s.rep[0])])
    assert check(ties=other).inconsistent >= 1
    shifted = w.copy()
    shifted[:2] += [0.01, -0.01]
    assert not check(w=shifted).optimal


def test_target_hits_at_distance_0(noisy):
    """Where each row is there twice, only the misses say how large a difference of distances is."""
    X, y = noisy
    assert SQPFeatureWeighting().fit(np.repeat(X, 2, axis=0), np.repeat(y, 2)).certificate_.optimal


@pytest.mark.parametrize("theta", [1e5, 1e8, 1e10])
def test_heavy_loss(noisy, theta):
    """Rounding grows with theta but is not a violation. An optimum at a vertex may have free weights of 0."""
    assert SQPFeatureWeighting(theta=theta).fit(*noisy).certificate_.optimal
    rng = np.random.default_rng(32)
    kappa, lam = (int(k) for k in rng.integers(1, 4, 2))
    X, y = rng.integers(0, 3, size=(30, 5)).astype(float), np.arange(30) % 2
    assert SQPFeatureWeighting(kappa, lam, theta, random_state=0).fit(X, y).certificate_.optimal
