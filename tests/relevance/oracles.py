"""Reference implementations: the formulas on explicit rows instead of kernels, or a general solver."""

import numpy as np
from scipy.optimize import LinearConstraint, minimize


def information(u, v):
    """Mutual information in bits, a double loop over bins."""
    n, total = len(u), 0.0
    for i in np.unique(u):
        for j in np.unique(v):
            joint = np.mean((u == i) & (v == j))
            if joint > 0:
                total += joint * np.log2(joint / (np.mean(u == i) * np.mean(v == j)))
    assert n
    return total


def relevance_vector_machine(X, y, beta, noise, max_iter=5000):
    """A linear RVM on explicit rows; returns weights, precisions, noise variance and the evidence at every step."""
    n, m = X.shape
    beta, evidence = np.full(m, float(beta)), []
    for _ in range(max_iter):
        used = beta < 1e9
        covariance = noise * np.eye(n) + (X[:, used] / beta[used]) @ X[:, used].T
        sign, determinant = np.linalg.slogdet(covariance)
        assert sign > 0
        evidence.append(-0.5 * (n * np.log(2 * np.pi) + determinant + y @ np.linalg.solve(covariance, y)))
        S = np.linalg.inv(X[:, used].T @ X[:, used] / noise + np.diag(beta[used]))
        mean = S @ X[:, used].T @ y / noise
        gamma = 1 - beta[used] * np.diag(S)
        old = beta.copy(), noise
        beta = np.full(m, np.inf)
        beta[used] = gamma / mean**2
        beta[beta > 1e9] = np.inf
        noise = ((y - X[:, used] @ mean) ** 2).sum() / (n - gamma.sum())
        same = np.isfinite(beta) == np.isfinite(old[0])
        if same.all() and np.allclose(np.log(beta[used]), np.log(old[0][used]), atol=1e-12, rtol=0):
            break
    weights = np.zeros(m)
    weights[used] = mean
    return weights, beta, noise, evidence


def log_evidence(Z, t, beta, noise):
    """log N(t | 0, noise I + Z diag(1 / beta) Z'), by the covariance of the rows; features of infinite beta are out."""
    n = len(t)
    covariance = noise * np.eye(n) + (Z / beta) @ Z.T
    sign, determinant = np.linalg.slogdet(covariance)
    assert sign > 0
    return -0.5 * (n * np.log(2 * np.pi) + determinant + t @ np.linalg.solve(covariance, t))


def quadratic_program(K, k, epsilon, C):
    """The problem of P-SVM in both nonnegative parts, by SciPy's general solver for constrained minimisation."""
    m = len(k)
    H = np.block([[K, -K], [-K, K]])
    linear = np.concatenate([epsilon - k, epsilon + k])
    bounds = LinearConstraint(np.eye(2 * m), 0, C)
    found = minimize(
        lambda v: 0.5 * v @ H @ v + linear @ v,
        np.full(2 * m, min(C, 1.0) / 2),
        jac=lambda v: H @ v + linear,
        hess=lambda v: H,
        method="trust-constr",
        constraints=[bounds],
        options={"gtol": 1e-12, "xtol": 1e-14, "barrier_tol": 1e-13, "maxiter": 5000},
    )
    return found.x[:m] - found.x[m:]


def objective(K, k, epsilon, w):
    return 0.5 * w @ K @ w - k @ w + epsilon * np.abs(w).sum()
