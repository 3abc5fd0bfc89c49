"""The one solver behind the three estimators, and where its runs end, in the caller's numbers of rows and columns.

It has Algorithm 1 for one theta and Algorithm 2 for the path.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mfbench_sqpfw._active_set.breakpoints import END, next_breakpoint
from mfbench_sqpfw._active_set.descent import OPTIMAL, STALLED, STEP_LIMIT, descend
from mfbench_sqpfw._active_set.hidden_ties import improve
from mfbench_sqpfw._active_set.path_record import Pace, PathRecord
from mfbench_sqpfw._active_set.problem import Floats, Ints, Problem
from mfbench_sqpfw._active_set.quadratic_program import objective
from mfbench_sqpfw._active_set.ranking import begin
from mfbench_sqpfw._active_set.state import CHANGES, POSITIVE, RECHECKS, TIES, State, weights_of, with_more_ties
from mfbench_sqpfw.certificate import Certificate, certify
from mfbench_sqpfw.weight_path import SparseRows, WeightPath


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


@dataclass(frozen=True, kw_only=True)
class Minimum(Solution):
    """A local minimum, or the last point of a run that was cut short.

    Attributes
    ----------
    objective : float
    history : list of float
        The objective at the start and after each step.
    n_rechecks : int
        How often the members outside the working set of a target were tested.
    n_restarts : int
        Restarts that lowered the objective.
    converged : bool
    """

    objective: float
    history: list[float]
    n_rechecks: int
    n_restarts: int
    converged: bool


@dataclass(frozen=True, kw_only=True)
class Solver:
    """The two algorithms with their limits.

    Attributes
    ----------
    tolerance : float
        A step whose entries are all smaller counts as none.
    max_iter : int or None
        Largest number of steps, and of breakpoints of a path; None means max(20000, 100 n kappa, min(20 l, 50000)).
    n_restarts : int
        Where hidden ties remain, the search ends after this many restarts in a row without improvement; with 0, there
        are no restarts.
    generator : RandomState
        Draws the directions of restarts.
    """

    tolerance: float
    max_iter: int | None
    n_restarts: int = 20
    generator: np.random.RandomState

    def minimise(self, problem: Problem, *, theta: float) -> Minimum:
        """Run Algorithm 1 from the prior weights, then restart it as long as hidden ties let the objective fall."""
        weights = np.zeros(problem.n_features)
        if not len(problem.features):
            return Minimum(
                problem=problem,
                state=None,
                weights=weights,
                objective=0.0,
                history=[0.0],
                n_rechecks=0,
                n_restarts=0,
                converged=True,
            )
        limit, succeeded = self._limit(problem), 0
        state = begin(problem)
        history = [objective(state, theta)]
        state, status, values = descend(state, theta=theta, tolerance=self.tolerance, max_steps=limit)
        history += values
        if status != STEP_LIMIT and theta > 0 and self.n_restarts:
            state, status, values, succeeded = improve(
                state,
                status,
                theta=theta,
                tolerance=self.tolerance,
                max_steps=limit - len(values),
                attempts=self.n_restarts,
                generator=self.generator,
            )
            history += values
        weights[problem.features] = weights_of(state)
        return Minimum(
            problem=problem,
            state=state,
            weights=weights,
            objective=objective(state, theta),
            history=history,
            n_rechecks=int(state.counts[RECHECKS]),
            n_restarts=succeeded,
            converged=status == OPTIMAL,
        )

    def follow(self, problem: Problem, *, theta_max: float) -> tuple[WeightPath, Solution]:
        """Follow the path of local minima from theta = 0 to ``theta_max``; return it and the solution at its end."""
        if not len(problem.features):
            start = np.zeros(1, dtype=np.int64)
            stored = SparseRows(problem.n_features)
            stored.append(np.zeros(problem.n_features))
            path = WeightPath(np.zeros(1), stored, start, start, [])
            return path, Solution(problem=problem, state=None, weights=np.zeros(problem.n_features))
        limit, state = self._limit(problem), begin(problem)
        record, pace = PathRecord(problem, weights_of(state)), Pace(len(state.w))
        while record.theta < theta_max and not record.cut_short:
            if state.counts[TIES] == len(state.tie_row) < len(state.w):
                state = with_more_ties(state)
            changes = int(state.counts[CHANGES])
            if pace.stalled:
                point = pace.leap(record.theta, theta_max)
            else:
                point = next_breakpoint(state, record.theta, theta_max)
            pace.note(point)
            before, value, status = weights_of(state), objective(state, point.theta), OPTIMAL
            if point.kind != END:
                state, status, _ = descend(state, theta=point.theta, tolerance=self.tolerance, max_steps=limit)
            if status == STALLED:
                state, status, *_ = improve(
                    state,
                    status,
                    theta=point.theta,
                    tolerance=self.tolerance,
                    max_steps=limit,
                    attempts=self.n_restarts,
                    generator=self.generator,
                )
                if status == STALLED:
                    pace.give_up()
            record.add(
                point,
                weights=(before, weights_of(state)),
                objectives=(value, objective(state, point.theta)),
                changes=int(state.counts[CHANGES]) - changes,
                cut_short=status == STEP_LIMIT or len(record.events) + 1 >= limit,
            )
        path = record.path()
        return path, Solution(problem=problem, state=state, weights=path.after_last())

    def _limit(self, problem: Problem) -> int:
        if self.max_iter is not None:
            return int(self.max_iter)
        n, n_varying = len(problem.X), len(problem.features)
        # A cold start on 2000 features takes 21,000 steps. On many more, steps are slow: not all may be waited for.
        return max(20_000, 100 * n * problem.kappa, min(20 * n_varying, 50_000))
