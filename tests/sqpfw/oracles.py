"""SQP-FW in its simplest form: sorted distances, dense KKT systems, a standard solver. Nothing here is fast."""

import numpy as np
from scipy.linalg import null_space
from scipy.optimize import nnls

from mfbench_sqpfw._active_set.descent import OPTIMAL, STALLED, STEP_LIMIT, solve
from mfbench_sqpfw._active_set.problem import prepare
from mfbench_sqpfw._active_set.state import POSITIVE, TIES


def problem(seed):
    """Return a random problem: data, kappa, lambda, theta, and whether it is full of ties (every third one)."""
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 4))
    kappa, lam = (int(k) for k in rng.integers(1, 4, 2))
    n = int(rng.integers(max(8, n_classes * (kappa + 1)), 61))
    p = int(rng.integers(2, 11))
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.normal(size=(n, p))
    X[:, 0] += y
    tied = seed % 3 == 2
    if tied:
        kind = int(rng.integers(3))
        if kind == 0:
            X = rng.integers(0, 4, size=(n, p)).astype(float)
        elif kind == 1:
            X = rng.integers(0, 2, size=(n, p)).astype(float)
        else:
            X[n // 2 : 2 * (n // 2)] = X[: n // 2]
    return X, y, kappa, lam, float(10 ** rng.uniform(-2, 1)), tied


def prepared(X, y, kappa, lam, working_set=None, bar=None):
    return prepare(np.asarray(X, float), np.asarray(y), kappa=kappa, lam=lam, bar=bar, working_set=working_set)


def weights(s):
    w = np.empty(len(s.w))
    w[s.perm] = s.w
    return w


def columns(s):
    """Return the data with the features in the order of the problem."""
    X = np.empty_like(s.X)
    X[:, s.perm] = s.X
    return X


def squares(X, i):
    return (X - X[i]) ** 2


def distances(s):
    """Return the distances of every target to every sample under w, twice: the rows for hits, then those for misses."""
    X, w = columns(s), weights(s)
    table = np.array([squares(X, i) @ w for i in s.targets])
    return np.vstack([table, table])


def sides(s):
    """Return -1, 0, 1 for members of H<, H=, H> (and M), NaN for other samples."""
    n_targets = len(s.targets)
    table = np.full((2 * n_targets, len(s.codes)), np.nan)
    for row in range(2 * n_targets):
        i = s.targets[row % n_targets]
        table[row, (s.codes == s.codes[i]) == (row < n_targets)] = 1
        table[row, i] = np.nan
        table[row, s.less[row, : s.n_less[row]]] = -1
        table[row, s.rep[row]] = 0
    for k in range(s.counts[TIES]):
        table[s.tie_row[k], s.tie_member[k]] = 0
    return table


def inconsistency(s):
    """Return the largest slack of the wrong sign, and whether the sizes of the sets are right."""
    table, d = sides(s), distances(s)
    gap = d - d[np.arange(len(d)), s.rep][:, None]
    wrong = np.where(table == 0, np.abs(gap), -table * gap)
    need = np.repeat(s.need, len(s.targets))
    less, equal = (table == -1).sum(axis=1), (table == 0).sum(axis=1)
    sizes = (less <= need - 1).all() and (equal >= 1).all() and (less + equal >= need).all()
    # The kappa-th smallest of all distances must be that of the representative.
    ranked = np.array([np.sort(row[~np.isnan(t)])[k - 1] for row, t, k in zip(d, table, need, strict=True)])
    values = np.abs(ranked - d[np.arange(len(d)), s.rep]).max()
    return max(float(np.nanmax(wrong)), float(values)), bool(sizes)


def loss_value(X, y, w, bar, kappa, lam, theta):
    """Return f(w) from sorted distances alone."""
    margin = []
    for i in range(len(X)):
        d = squares(X, i) @ w
        hit = (y == y[i]) & (np.arange(len(X)) != i)
        if hit.sum() >= kappa and (y != y[i]).sum() >= lam:
            margin.append(np.sort(d[hit])[kappa - 1] - np.sort(d[y != y[i]])[lam - 1])
    return theta * np.mean(margin) + 0.5 * ((w - bar) ** 2).sum()


def directional_derivatives(X, y, w, bar, kappa, lam, theta, V):
    """Return the derivative of f at w along each row of V; the rates of tied members decide which is the kappa-th."""
    slopes = []
    for i in range(len(X)):
        e, hit = squares(X, i), (y == y[i]) & (np.arange(len(X)) != i)
        if hit.sum() >= kappa and (y != y[i]).sum() >= lam:
            slopes.append(_rate(e[hit], w, kappa, V) - _rate(e[y != y[i]], w, lam, V))
    return theta * np.mean(slopes, axis=0) + V @ (w - bar)


def _rate(e, w, k, V):
    d = e @ w
    gap = d - np.sort(d)[k - 1]
    tied = np.abs(gap) <= 1e-9 * d.max()
    return np.sort(V @ e[tied].T, axis=1)[:, k - 1 - np.count_nonzero(gap[~tied] < 0)]


def dense_kkt(s, theta):
    """Solve (4) in all variables (w, xi, eta): return u, phi, alpha by feature, and {(row, member): multiplier}."""
    n_targets, p = len(s.targets), len(s.w)
    X = columns(s)
    bar = np.empty(p)
    bar[s.perm] = s.bar
    size = p + 2 * n_targets
    H, linear = np.zeros((size, size)), np.zeros(size)
    H[:p, :p] = np.eye(p)
    linear[:p] = -bar
    linear[p : p + n_targets], linear[p + n_targets :] = theta / n_targets, -theta / n_targets
    A, right, names = [np.r_[np.ones(p), np.zeros(2 * n_targets)]], [1.0], ["phi"]
    # A weight that has just been released is 0 but free.
    for f in s.perm[s.counts[POSITIVE] :]:
        A.append(np.eye(size)[f])
        right.append(0.0)
        names.append(int(f))
    pairs = [(row, int(s.rep[row])) for row in range(2 * n_targets)]
    pairs += [(int(s.tie_row[k]), int(s.tie_member[k])) for k in range(s.counts[TIES])]
    for row, member in pairs:
        line = np.zeros(size)
        line[:p] = squares(X, s.targets[row % n_targets])[member]
        line[p + row] = -1.0
        A.append(line)
        right.append(0.0)
        names.append((row, member))
    A = np.array(A)
    K = np.block([[H, A.T], [A, np.zeros((len(A), len(A)))]])
    solution = np.linalg.solve(K, np.r_[-linear, right])
    multipliers = dict(zip(names, solution[size:], strict=True))
    return solution[:p], multipliers


def standard_qp(s, theta):
    """Solve the QP (3) with the sets of the state by Lawson and Hanson's least-distance programming."""
    X, table = columns(s), sides(s)
    n_targets, p = len(s.targets), len(s.w)
    bar, c = np.empty(p), np.zeros(p)
    bar[s.perm] = s.bar
    equal, unequal = [np.ones(p)], list(np.eye(p))
    for row in range(2 * n_targets):
        e = squares(X, s.targets[row % n_targets])
        b = e - e[s.rep[row]]
        c += (1 if row < n_targets else -1) * e[s.rep[row]] / n_targets
        members = np.flatnonzero(table[row] == 0)
        equal += [b[j] for j in members if j != s.rep[row]]
        unequal += [table[row, j] * b[j] for j in np.flatnonzero(np.abs(table[row]) == 1)]
    equal, unequal = np.array(equal), np.array(unequal)
    point = np.linalg.lstsq(equal, np.r_[1.0, np.zeros(len(equal) - 1)], rcond=None)[0]
    N = null_space(equal)
    if N.shape[1] == 0:
        return point
    centre = N.T @ (bar - theta * c - point)
    G, h = unequal @ N, -(unequal @ (point + N @ centre))
    keep = np.linalg.norm(G, axis=1) > 1e-12
    G, h = G[keep], h[keep]
    E = np.vstack([G.T, h])
    target = np.zeros(len(E))
    target[-1] = 1.0
    y, _ = nnls(E, target, maxiter=50 * E.shape[1])
    r = E @ y - target
    return point + N @ (centre - r[:-1] / r[-1])


def run(s, theta, max_steps=20000, ended=None):
    """Make single steps until the end and yield the objective after each; append the last status to ``ended``."""
    history = np.empty(4)
    for _ in range(max_steps):
        status, made = solve(s, theta, 1e-10, 1, history)
        assert status in (OPTIMAL, STEP_LIMIT, STALLED)
        if made:
            yield float(history[0])
        if status in (OPTIMAL, STALLED):
            if ended is not None:
                ended.append(status)
            return
    raise AssertionError("the run does not end")
