"""Where a run of the solver ends, in the caller's numbers of rows and columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mfbench_sqpfw._active_set.problem import Floats, Ints, Problem
from mfbench_sqpfw._active_set.state import POSITIVE, TIES, State, weights_of
from mfbench_sqpfw.certificate import Certificate, certify


@dataclass(frozen=True, kw_only=True)
class Solution:
    """Weights with their target neighbours and active set.

    Attributes
    ----------
    problem : Problem
    state : State or None
        None if no feature varies: all distances are then 0.
    weights : ndarray of shape (n_features,)
    """

    problem: Problem
    state: State | None
    weights: Floats

    def target_neighbours(self) -> tuple[Ints, Ints]:
        """Return the target hit and the target miss of each row, -1 for rows that are not targets."""
        problem, state = self.problem, self.state
        hits, misses = np.full((2, len(problem.order)), -1, dtype=np.int64)
        if state is not None:
            n_targets, samples = len(problem.targets), problem.order[problem.targets]
            hits[samples] = problem.order[state.rep[:n_targets]]
            misses[samples] = problem.order[state.rep[n_targets:]]
        return hits, misses

    def active_set(self) -> dict[str, Ints]:
        """Return the features held at 0 and the pairs (sample, member) tied with the target hit or the target miss."""
        problem, state = self.problem, self.state
        if state is None:
            no_pairs = np.zeros((0, 2), dtype=np.int64)
            return {"weights": np.zeros(0, dtype=np.int64), "hits": no_pairs, "misses": no_pairs.copy()}
        n_targets, count = len(problem.targets), int(state.counts[TIES])
        rows, members = state.tie_row[:count], problem.order[state.tie_member[:count]]
        samples = problem.order[problem.targets]
        pairs = np.column_stack([samples[rows % n_targets], members]).astype(np.int64)
        zeros = problem.features[np.sort(state.perm[state.counts[POSITIVE] :])]
        return {"weights": zeros, "hits": pairs[rows < n_targets], "misses": pairs[rows >= n_targets]}

    def certificate(self, theta: float) -> Certificate:
        """Check the optimality conditions from scratch."""
        problem, state = self.problem, self.state
        if state is None:
            return Certificate(True, 0.0, 0.0, 0.0, 0, 0, 0)
        count = int(state.counts[TIES])
        ties: list[Ints] = [np.array([member]) for member in state.rep]
        for row, member in zip(state.tie_row[:count], state.tie_member[:count], strict=True):
            ties[row] = np.append(ties[row], member)
        return certify(
            problem.X,
            problem.codes,
            problem.targets,
            w=weights_of(state),
            bar=problem.bar,
            theta=theta,
            ties=ties,
            less=[row[:size] for row, size in zip(state.less, state.n_less, strict=True)],
            need=(problem.kappa, problem.lam),
            zeros=state.perm[state.counts[POSITIVE] :],
        )
