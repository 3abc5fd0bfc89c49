"""The ratio test of Lemma 5, made cheap by deadlines.

For a pair (i, j) outside the active set, slack = b.w with b = e(i, j) - e(i, representative). The sum of the weights is
fixed, so when w moves by a distance D, the slack changes by at most D times the norm of b minus its mean
(Cauchy-Schwarz): the pair cannot change sides before w is |slack| / norm away. A step tests only the pairs whose radius
it exceeds, and is still exact.

Each row watches the q members with the smallest radii around the weights at its last refresh, in ascending order.
Members whose radius w has nearly left are open: they are tested one by one, each with a deadline in terms of the length
of the path of w. When w leaves the radius of all others, the whole row is tested and its watched members are selected
again: a recheck.
"""

from __future__ import annotations

import numpy as np

from mfbench_learners.compiled import njit
from mfbench_sqpfw._active_set.basis import REDUCE
from mfbench_sqpfw._active_set.problem import Floats, Ints
from mfbench_sqpfw._active_set.state import (
    ALIVE,
    EVALUATED,
    FLAGS,
    LENGTH,
    MEAN_MOVE,
    NEGLIGIBLE,
    POSITIVE,
    RECHECKS,
    RECORDS,
    SPARE,
    STAMP,
    TIES,
    State,
    first_deadline,
    forget_row,
)

# A rate below this share of its bound is rounding: the row b, or the unit vector of the weight, depends on active rows.
_RATE = 1e-10
# Deadlines are shortened by this factor against rounding.
_SAFE = 1.0 - 1e-9
# A radius below this comes from rounding of a slack that is 0: such a pair is tested in every step.
_ROUNDING = 1e-14


@njit(cache=True, allocates=False, fastmath=REDUCE)
def _pair(X: Floats, i: int, j: int, rep: int, w: Floats, dw: Floats, alive: int) -> tuple[float, float, float, float]:
    """Return the slack, rate, squared norm and mean of a pair."""
    slack = rate = total = squares = 0.0
    for f in range(alive):
        near, far = X[i, f] - X[rep, f], X[i, f] - X[j, f]
        b = far * far - near * near
        slack += b * w[f]
        rate += b * dw[f]
        total += b
        squares += b * b
    # The second term keeps the bound safe where nearly all of b is its mean.
    return slack, rate, max(squares - total * total / alive, 0.0) + 1e-13 * squares, total / alive


@njit(cache=True, allocates=False, fastmath=REDUCE)
def _pair_at_rest(X: Floats, i: int, j: int, near: Floats, w: Floats, alive: int) -> tuple[float, float, float]:
    """Return the slack, squared norm and mean of a pair; ``near``: the squared differences to the representative."""
    slack = total = squares = 0.0
    for f in range(alive):
        far = X[i, f] - X[j, f]
        b = far * far - near[f]
        slack += b * w[f]
        total += b
        squares += b * b
    return slack, max(squares - total * total / alive, 0.0) + 1e-13 * squares, total / alive


@njit(cache=True, allocates=False)
def _radius(s: State, slack: float, squared_norm: float) -> float:
    if squared_norm <= s.travel[NEGLIGIBLE]:
        return np.inf
    radius: float = max(0.0, _SAFE * abs(slack) / np.sqrt(squared_norm) - _ROUNDING)
    return radius


@njit(cache=True, allocates=False)
def members(s: State, row: int) -> tuple[int, int, int, int]:
    """Return the two ranges of samples that are the hits (including the target) or the misses of a row."""
    n_targets = len(s.targets)
    code = s.codes[s.targets[row % n_targets]]
    begin, end = s.starts[code], s.starts[code + 1]
    if row < n_targets:
        return begin, end, end, end
    return 0, begin, end, len(s.codes)


@njit(cache=True, allocates=False)
def is_less(s: State, row: int, member: int) -> bool:
    """Return whether a member is in H< or M<."""
    for k in range(s.n_less[row]):  # noqa: SIM110 - Numba does not compile generators
        if s.less[row, k] == member:
            return True
    return False


@njit(cache=True, allocates=False)
def _select(keys: Floats, order: Ints, count: int, q: int) -> None:
    """Move the q smallest of ``count`` keys and their numbers to the front, in place."""
    low, high = 0, count - 1
    while low < high:
        pivot = keys[(low + high) // 2]
        a, b = low, high
        while a <= b:
            while keys[a] < pivot:
                a += 1
            while keys[b] > pivot:
                b -= 1
            if a <= b:
                keys[a], keys[b] = keys[b], keys[a]
                order[a], order[b] = order[b], order[a]
                a += 1
                b -= 1
        if q - 1 <= b:
            high = b
        elif q - 1 >= a:
            low = a
        else:
            return


@njit(cache=True)
def _sort(keys: Floats, order: Ints, count: int, sorted_keys: Floats, sorted_order: Ints) -> None:
    """Write the first ``count`` keys in ascending order, and their numbers."""
    ranks = np.argsort(keys[:count])
    for at in range(count):
        sorted_keys[at], sorted_order[at] = keys[ranks[at]], order[ranks[at]]


@njit(cache=True, allocates=False)
def is_tied(s: State, row: int, member: int) -> bool:
    """Return whether a member is in the active set besides the representative."""
    if s.n_ties[row]:
        for k in range(s.counts[TIES]):
            if s.tie_row[k] == row and s.tie_member[k] == member:
                return True
    return False


@njit(cache=True, allocates=False)
def refresh_row(s: State, row: int) -> None:
    """Select the watched members of a row again, around the current w. Time O(n l + q log q)."""
    i, rep, alive = s.targets[row % len(s.targets)], s.rep[row], s.counts[ALIVE]
    radii, near, order = s.scratch[3], s.scratch[4], s.order
    X, w = s.X, s.w
    for f in range(alive):
        difference = s.X[i, f] - s.X[rep, f]
        near[f] = difference * difference
    begin, middle, resume, end = members(s, row)
    count, least, mean = 0, np.inf, 0.0
    for block in range(2):
        for j in range(begin if block == 0 else resume, middle if block == 0 else end):
            if j in (i, rep) or is_tied(s, row, j):
                continue
            slack, norm, average = _pair_at_rest(X, i, j, near, w, alive)
            least, mean = min(least, norm), max(mean, abs(average))
            radii[count], order[count] = _radius(s, slack, norm), j
            count += 1
    watched = min(count, s.near.shape[1] - SPARE)
    rest = np.inf
    if count > watched:
        _select(radii, order, count, watched)
        for at in range(watched, count):
            rest = min(rest, radii[at])
    _sort(radii, order, watched, s.radius[row], s.near[row])
    for at in range(watched):
        s.due[row, at] = s.travel[LENGTH] + s.radius[row, at]
    s.radius[row, watched] = rest
    s.n_near[row], s.n_open[row] = watched, 0
    s.due_rest[row] = s.travel[LENGTH] + s.radius[row, 0]
    s.bounds[0, row], s.bounds[1, row] = least, mean
    s.ref_alive[row] = alive
    for f in range(len(s.w)):
        s.ref[row, f] = s.w[f]
    s.deadline[row] = s.due_rest[row]


@njit(cache=True, allocates=False)
def watch_now(s: State, row: int, member: int) -> None:
    """Watch a member that has just left the active set; it stays open, whatever w does."""
    count = s.n_near[row]
    if count == s.near.shape[1]:
        refresh_row(s, row)
        return
    s.radius[row, count + 1] = s.radius[row, count]
    for at in range(count, 0, -1):
        s.near[row, at], s.due[row, at] = s.near[row, at - 1], s.due[row, at - 1]
        s.radius[row, at] = s.radius[row, at - 1]
    s.near[row, 0], s.due[row, 0], s.radius[row, 0] = member, s.travel[LENGTH], -np.inf
    s.n_near[row] += 1
    s.n_open[row] += 1
    s.deadline[row] = s.travel[LENGTH]


@njit(cache=True, allocates=False)
def widen_norms(s: State, feature: int, position: int) -> None:
    """Shrink all radii, because a feature has returned that the norms may not include; it was at ``position`` before.

    Its entry of b, minus the mean of b, is at most ``entry``; no squared norm is smaller than the row's least. So no
    norm grows by more than the factor sqrt(1 + entry² / least), and no radius shrinks by more.
    """
    low = high = s.X[0, feature]
    for i in range(len(s.X)):
        low, high = min(low, s.X[i, feature]), max(high, s.X[i, feature])
    now = s.travel[LENGTH]
    for row in range(len(s.rep)):
        least = s.bounds[0, row]
        if s.n_near[row] == 0 or least <= s.travel[NEGLIGIBLE]:
            forget_row(s, row)
            continue
        x = s.X[s.targets[row % len(s.targets)], feature]
        entry = max(high - x, x - low) ** 2 + s.bounds[1, row]
        shrink = _SAFE / np.sqrt(1.0 + entry * entry / least)
        s.due_rest[row] = earliest = min(s.due_rest[row], now + shrink * (s.due_rest[row] - now))
        for at in range(s.n_near[row]):
            s.radius[row, at] *= shrink
            s.due[row, at] = min(s.due[row, at], now + shrink * (s.due[row, at] - now))
            if at < s.n_open[row]:
                earliest = min(earliest, s.due[row, at])
        s.radius[row, s.n_near[row]] *= shrink
        # The weights of features that were not alive at the refresh were 0, so that they may count for the distance.
        s.ref_alive[row] = max(s.ref_alive[row], position + 1 if s.ref_alive[row] >= s.counts[ALIVE] else 0)
        s.ref_alive[row] = max(s.ref_alive[row], s.counts[ALIVE])
        s.deadline[row] = earliest


@njit(cache=True, allocates=False, fastmath=REDUCE)
def _distance(s: State, row: int) -> float:
    """Return how far w is from its value at the last refresh of the row."""
    squares = 0.0
    for f in range(s.ref_alive[row]):
        gap = s.w[f] - s.ref[row, f]
        squares += gap * gap
    distance: float = np.sqrt(squares)
    return distance


@njit(cache=True, allocates=False)
def _open(s: State, row: int, margin: float) -> None:
    """Open the watched members whose radius w could leave within ``margin``; give the others one common deadline."""
    moved = _distance(s, row) / _SAFE
    k = 0
    while k < s.n_near[row] and s.radius[row, k] - moved <= margin:
        k += 1
    s.n_open[row] = k
    s.due_rest[row] = s.travel[LENGTH] + s.radius[row, k] - moved


@njit(cache=True, allocates=False)
def _candidate(s: State, row: int, j: int, slack: float, rate: float, norm: float, speed: float) -> float:
    """Return the step length at which a pair becomes tied, infinite if it does not."""
    if norm <= s.travel[NEGLIGIBLE] or abs(rate) <= _RATE * np.sqrt(norm) * speed:
        return np.inf
    if is_less(s, row, j):
        slack, rate = -slack, -rate
    return max(0.0, -slack / rate) if rate < 0 else np.inf


@njit(cache=True, allocates=False)
def _earlier(tau: float, row: int, j: int, best: tuple[float, int, int]) -> bool:
    """Return whether a blocking pair precedes the best so far, independently of the order in which pairs are tested."""
    if tau != best[0]:
        return tau < best[0]
    return best[1] >= 0 and (row < best[1] or (row == best[1] and j < best[2]))


@njit(cache=True, allocates=False)
def ratio_test(s: State, dw: Floats, limit: float) -> tuple[float, int, int]:
    """Return how far w can move along dw, at most ``limit``, and what blocks it (equation 5).

    The block is (row, member) for a pair, (-1, position) for a weight that reaches 0, (-2, -1) if there is none. The
    pairs tested are recorded for `settle`.
    """
    p = s.counts[POSITIVE]
    speed = 0.0
    for f in range(p):
        speed += dw[f] * dw[f]
    speed = np.sqrt(speed)
    best = (limit, -2, -1)
    s.counts[RECORDS] = s.counts[FLAGS] = 0
    s.counts[STAMP] += 1
    if speed == 0.0:
        return best
    for f in range(p):
        if dw[f] < -_RATE * speed:
            # The rest of a weight that should have vanished together with another one is rounding.
            tau = -s.w[f] / dw[f] if s.w[f] > 1e-15 else 0.0
            if tau < best[0]:
                best = (tau, -1, f)
    now, reach = s.travel[LENGTH], s.travel[LENGTH]
    while True:
        end = now + best[0] * speed
        earliest = first_deadline(s)
        if earliest == np.inf or earliest > end:
            return best
        # All rows within reach are tested at once, then the reach doubles: going straight to the end would be too far,
        # because most steps are blocked long before.
        reach = max(earliest, min(end, now + max(2.0 * (reach - now), s.travel[MEAN_MOVE])))
        for row in range(len(s.deadline)):
            while s.deadline[row] <= min(reach, now + best[0] * speed):
                best = _test_row(s, row, dw, reach, speed, best)


@njit(cache=True, allocates=False)
def _test_row(
    s: State, row: int, dw: Floats, reach: float, speed: float, best: tuple[float, int, int]
) -> tuple[float, int, int]:
    """Test the pairs of a row that are due, or select its watched members again; return the first block so far."""
    now = s.travel[LENGTH]
    if s.due_rest[row] <= reach:
        # A little further: rounding could otherwise close a member that is due.
        _open(s, row, 1.001 * (reach - now) + 1e-12)
    rest_is_due, refreshed = s.due_rest[row] <= reach, s.mark[row] == s.counts[STAMP]
    s.mark[row] = s.counts[STAMP]
    if rest_is_due and not refreshed:
        # Members are selected around the current w before any is tested: that is often enough.
        s.counts[RECHECKS] += 1
        refresh_row(s, row)
        return best
    if rest_is_due:
        s.flagged[s.counts[FLAGS]] = row
        s.counts[FLAGS] += 1
        s.deadline[row] = np.inf
        return _test_all(s, row, dw, speed, best)
    i, rep, alive, q = s.targets[row % len(s.targets)], s.rep[row], s.counts[ALIVE], s.near.shape[1]
    X, w, near, due = s.X, s.w, s.near[row], s.due[row]
    earliest = s.due_rest[row]
    for at in range(s.n_open[row]):
        if due[at] > reach:
            earliest = min(earliest, due[at])
            continue
        j = near[at]
        slack, rate, norm, mean = _pair(X, i, j, rep, w, dw, alive)
        s.bounds[0, row], s.bounds[1, row] = min(s.bounds[0, row], norm), max(s.bounds[1, row], abs(mean))
        tau = _candidate(s, row, j, slack, rate, norm, speed)
        if _earlier(tau, row, j, best):
            best = (tau, row, j)
        due[at] = np.inf
        k = s.counts[RECORDS]
        s.record_id[k] = row * q + at
        s.record[k, 0], s.record[k, 1], s.record[k, 2] = slack, rate, norm
        s.counts[RECORDS] = k + 1
    s.deadline[row] = earliest
    return best


@njit(cache=True, allocates=False)
def _test_all(s: State, row: int, dw: Floats, speed: float, best: tuple[float, int, int]) -> tuple[float, int, int]:
    """Test all pairs of a row outside the active set; return the first block so far."""
    i, rep, alive = s.targets[row % len(s.targets)], s.rep[row], s.counts[ALIVE]
    X, w = s.X, s.w
    begin, middle, resume, end = members(s, row)
    for block in range(2):
        for j in range(begin if block == 0 else resume, middle if block == 0 else end):
            if j in (i, rep) or is_tied(s, row, j):
                continue
            slack, rate, norm, _ = _pair(X, i, j, rep, w, dw, alive)
            tau = _candidate(s, row, j, slack, rate, norm, speed)
            if _earlier(tau, row, j, best):
                best = (tau, row, j)
    return best


@njit(cache=True, allocates=False)
def settle(s: State, tau: float, speed: float) -> None:
    """Set new deadlines for the pairs of the last `ratio_test`, after w has moved by ``tau`` dw, |dw| = ``speed``."""
    s.travel[LENGTH] += tau * speed
    s.travel[MEAN_MOVE] += 0.1 * (tau * speed - s.travel[MEAN_MOVE])
    q, records = s.near.shape[1], s.counts[RECORDS]
    s.counts[EVALUATED] += records
    for k in range(records):
        row, at = s.record_id[k] // q, s.record_id[k] % q
        if is_tied(s, row, s.near[row, at]):
            s.near[row, at] = -1
            continue
        slack = s.record[k, 0] + tau * s.record[k, 1]
        s.due[row, at] = s.travel[LENGTH] + _radius(s, slack, s.record[k, 2])
    s.counts[STAMP] += 1
    for k in range(records):
        row = s.record_id[k] // q
        if s.mark[row] == s.counts[STAMP]:
            continue
        s.mark[row] = s.counts[STAMP]
        earliest = s.due_rest[row]
        for at in range(s.n_open[row]):
            earliest = min(earliest, s.due[row, at])
        s.deadline[row] = earliest
    for k in range(s.counts[FLAGS]):
        refresh_row(s, s.flagged[k])
    s.counts[RECHECKS] += s.counts[FLAGS]
