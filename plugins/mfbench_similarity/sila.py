"""SiLA: a perceptron that learns a similarity from the samples whose impostors are more similar than their targets."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from mfbench_learners.compiled import njit
from mfbench_similarity._classifier import Voters
from mfbench_similarity._learner import SimilarityLearner
from mfbench_similarity._nearest.lists import Pairs, block_rows
from mfbench_similarity._nearest.table import Matrix, Normalization, inverse_factors

# Number of rows in a tile of similarities, small enough for the first-level cache.
TILE = 512
# Differences of similarities below this share of the largest possible one count as ties.
TIE = 2.0**-40
DIAGONAL, SYMMETRIC, SQUARE = range(3)
_FORMS = {"diagonal": DIAGONAL, "symmetric": SYMMETRIC, "square": SQUARE}


class SiLA(SimilarityLearner):
    r"""Learn a similarity by correcting it at each sample whose misses are at least as similar as its hits.

    The samples are visited in order, `max_iter` times. With the k targets :math:`y_q` (hits) and impostors :math:`z_q`
    (misses) of a sample :math:`x`, if :math:`\sum_q s_A(x, y_q) - s_A(x, z_q) \le 0`, then [1]_

    .. math:: A \leftarrow A + \sum_q f(x, y_q) - f(x, z_q), \qquad f_{ml}(x, y) = \frac{x_m y_l}{N(x, y)}

    for a square matrix; :math:`(x_m y_l + x_l y_m) / N(x, y)` for a symmetric one, and the diagonal of :math:`f` for a
    diagonal one. A starts at 0. The weight of each matrix along the way is the number of samples it served: the one
    whose correction created it, and those it classified correctly from then on.

    Parameters
    ----------
    n_neighbors : int, default=1
        Number k of targets and of impostors of a sample, and of neighbours used for prediction.
    matrix : {"square", "symmetric", "diagonal"}, default="square"
        Form of A.
    prediction : {"averaged", "voted", "last"}, default="averaged"
        Predict by the weighted mean of all matrices, whose similarities are the weighted means of theirs; by a weighted
        vote of the matrices; or by the last matrix.
    neighbours : {"fixed-targets", "fixed", "adaptive"}, default="fixed-targets"
        Find targets with A = I and impostors under the current A; both with A = I; or both under the current A. While
        A is 0, under which all rows are equally similar, A = I is used instead.
    normalization : {"norms", "none"} or callable, default="norms"
        As for `RBS`.
    rule : {"knn-a", "sknn-a"}, default="knn-a"
        As for `RBS`.
    mode : {"multiclass", "one-vs-rest"}, default="multiclass"
        As for `RBS`.
    max_iter : int, default=10
        Number of epochs, the paper's J.
    max_matrices : int, default=500
        With ``prediction="voted"``, the number of matrices to keep; the last ones are kept.

    Attributes
    ----------
    matrices_, matrix_, weights_, feature_importances_, classes_, n_skipped_, n_features_in_
        As for `RBS`; A is the mean over matrices for "averaged" and "voted" prediction, else the last matrix.
    margins_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
        As for `RBS`, with hits and misses found with A = I.
    n_updates_ : list of int
        Number of corrections, one per problem.
    voters_ : list of list of (float, ndarray)
        With ``prediction="voted"``, the weights and matrices that vote, one list per problem; otherwise empty lists.
    vote_share_ : list of float
        Share of the total weight that the kept matrices have, one per problem; 1 unless the prediction is "voted".
    n_iter_ : int
        Number of epochs up to and including the first without a correction; the largest among the problems.
    converged_ : bool
        True if each problem had an epoch without a correction.
    degenerate_ : bool
        True if A is 0. It is then the identity, divided by its norm.

    Raises
    ------
    ValueError
        As for `RBS`.

    Warns
    -----
    RuntimeWarning
        If A is 0.

    Notes
    -----
    Time O(n² p) for the targets, as blocked matrix products, and O(n (n p + p²)) per epoch and problem, O(n p²) with
    ``neighbours="fixed"``; memory O(n (k + p)) and O(p²). A vote needs O(q p²) memory for q matrices and O(m n p) time
    per matrix to predict m rows. After an epoch without a correction, none can follow: the remaining epochs are
    accounted for but not run.

    As in the paper, the symmetric form counts the product of a feature with itself twice. Differences below 2⁻⁴⁰ of
    the largest possible similarity count as 0.

    References
    ----------
    .. [1] A. M. Qamar, E. Gaussier: RELIEF algorithm and similarity learning for k-NN. International Journal of
       Computer Information Systems and Industrial Management Applications 4, 2012, section II.

    Examples
    --------
    Classes differ in the sign of the second feature; the first, which is larger, is noise. Two corrections suffice.

    >>> from mfbench_similarity import SiLA
    >>> X, y = [[2, 1], [-2, 1], [2, -1], [-2, -1]], [0, 0, 1, 1]
    >>> sila = SiLA(normalization="none", prediction="last").fit(X, y)
    >>> sila.matrix_.tolist(), sila.n_updates_, sila.converged_
    ([[-8.0, 0.0], [-4.0, 4.0]], [2], True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SimilarityLearner._parameter_constraints,
        "prediction": [StrOptions({"averaged", "voted", "last"})],
        "neighbours": [StrOptions({"fixed-targets", "fixed", "adaptive"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "max_matrices": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_neighbors: int = 1,
        matrix: str = "square",
        prediction: str = "averaged",
        neighbours: str = "fixed-targets",
        normalization: Normalization = "norms",
        rule: str = "knn-a",
        mode: str = "multiclass",
        max_iter: int = 10,
        max_matrices: int = 500,
    ) -> None:
        super().__init__(n_neighbors, matrix, normalization, rule, mode)
        self.prediction = prediction
        self.neighbours = neighbours
        self.max_iter = max_iter
        self.max_matrices = max_matrices

    def _begin(self) -> None:
        self.n_updates_: list[int] = []
        self.voters_: list[Voters] = []
        self.vote_share_: list[float] = []
        self.n_iter_, self.converged_ = 1, True

    def _learn(self, rows: Matrix, pairs: Pairs, problem: int) -> Matrix:
        course = _Course(self, pairs, problem)
        epochs = course.run(self.max_iter)
        self.n_iter_ = max(self.n_iter_, epochs)
        self.converged_ = self.converged_ and course.settled
        self.n_updates_.append(course.updates)
        voters = self._voting(course)
        self.voters_.append(voters)
        self.vote_share_.append(sum(weight for weight, _ in voters) / course.total_weight if voters else 1.0)
        return self._or_identity(self._shaped(course.A if self.prediction == "last" else course.total), problem)

    def _shortfall(self) -> str | None:
        if self.converged_:
            return None
        return f"there were still corrections in the last of max_iter={self.max_iter} epochs; increase max_iter"

    def _electorate(self, problem: int) -> Voters:
        return self.voters_[problem] or super()._electorate(problem)

    def _voting(self, course: _Course) -> Voters:
        """Return the matrices that vote, the oldest first; an empty list if all are zero."""
        if self.prediction != "voted" or not course.total.any():
            return []
        weights, matrices = course.kept()
        return [(float(w), self._shaped(A)) for w, A in zip(weights, matrices, strict=True)]

    def _shaped(self, A: Matrix) -> Matrix:
        return A[0].copy() if self.matrix == "diagonal" else A


class _Course:
    """The run of SiLA on one problem: the current matrix, the total, and a ring of the last matrices."""

    def __init__(self, sila: SiLA, pairs: Pairs, problem: int) -> None:
        table = self.table = sila._table
        p = table.rows.shape[1]
        form = self.form = _FORMS[sila.matrix]
        shape = (1 if form == DIAGONAL else p, p)
        self.A, self.total = np.zeros(shape), np.zeros(shape)
        size = sila.max_matrices if sila.prediction == "voted" else 0
        self.ring, self.ring_weights = np.zeros((size, *shape)), np.zeros(size)
        self.weight, self.updates, self.settled = 0.0, 0, False
        self.follow = (sila.neighbours == "adaptive", sila.neighbours != "fixed")
        self.samples = table.position
        self.columns = np.ascontiguousarray(table.rows.T)
        self.longest = float(np.sqrt(np.einsum("ij,ij->i", table.rows, table.rows).max()))
        self.pairs = pairs.hits[problem], pairs.misses[problem], pairs.counts[problem]
        self.n_used = int(np.count_nonzero(pairs.counts[problem]))
        starts = table.starts
        one = table.labels if sila._n_problems == 1 else np.full(len(table.labels), problem)
        self.low, self.high, self.inside = starts[one], starts[one + 1], table.labels == one
        self.total_weight = 0.0

    def run(self, epochs: int) -> int:
        """Run epochs until no more corrections can follow; return the number of epochs run."""
        done = 0
        while done < epochs and not self.settled:
            before = self.updates
            self._epoch()
            done += 1
            self.settled = self.updates == before
        # In the remaining epochs the last matrix would be right on every sample.
        self.weight += (epochs - done) * self.n_used
        self.total += self.weight * self.A
        if len(self.ring) and self.updates:
            slot = (self.updates - 1) % len(self.ring)
            self.ring[slot], self.ring_weights[slot] = self.A, self.weight
        self.total_weight = float(epochs * self.n_used)
        return done

    def kept(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return weights and matrices in the ring, the oldest first."""
        size = len(self.ring)
        if self.updates <= size:
            return self.ring_weights[: self.updates], self.ring[: self.updates]
        turn = -(self.updates % size)
        return np.roll(self.ring_weights, turn), np.roll(self.ring, turn, axis=0)

    def _epoch(self) -> None:
        table = self.table
        # Only a user's N needs one value per pair; they are computed for a block of samples at a time.
        step = block_rows(len(table.rows), table.rows.shape[1]) if callable(table.normalization) else len(self.samples)
        for begin in range(0, len(self.samples), step):
            block = self.samples[begin : begin + step]
            weighted = callable(table.normalization)
            inverse = inverse_factors(table, table.rows[block]) if weighted else np.zeros((1, 0))
            self.weight, self.updates = run(
                block,
                table.rows,
                self.columns,
                table.order,
                self.low,
                self.high,
                self.inside,
                self.longest,
                *self.pairs,
                inverse,
                self.form,
                *self.follow,
                self.A,
                self.total,
                self.weight,
                self.ring,
                self.ring_weights,
                self.updates,
            )


@njit(cache=True)
def run(
    samples,
    rows,
    columns,
    order,
    low,
    high,
    inside,
    longest,
    hits,
    misses,
    counts,
    inverse,
    form,
    follow_hits,
    follow_misses,
    A,
    total,
    weight,
    kept,
    kept_weights,
    updates,
):  # pragma: no cover
    """Visit samples once, in order; return the weight of the last matrix and the number of updates so far.

    `low` and `high` bound the sorted rows of one side of the problem; `inside` marks the samples that belong to it.
    `inverse` holds 1 / N of each visited sample and all rows; it is empty if N is 1. A, the running total, and the
    matrices kept for voting are changed in place.
    """
    n, p = rows.shape
    k = hits.shape[1]
    weighted = inverse.size > 0
    u, v = np.empty(p), np.empty(p)
    tile = np.empty(TILE)
    hit, miss, value = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64), np.empty(k)
    nonzero = np.any(A != 0.0)
    for s in range(len(samples)):
        i = samples[s]
        count = counts[i]
        if count == 0:
            continue
        _map(u, rows[i], A, form)
        reach = np.sqrt(np.dot(u, u)) * longest
        factors = inverse[s] if weighted else inverse[0]
        hit[:count] = hits[i, :count]
        miss[:count] = misses[i, :count]
        if nonzero and (follow_hits or follow_misses):
            scale = _scale(reach, factors)
            own_low, own_high = low[i], high[i]
            for side in range(2):
                target_side = side == 0
                if (target_side and not follow_hits) or (not target_side and not follow_misses):
                    continue
                best = hit if target_side else miss
                value[:] = -np.inf
                if inside[i] == target_side:
                    _search(u, columns, own_low, own_high, scale, factors, order, i, count, best, value, tile)
                else:
                    _search(u, columns, 0, own_low, scale, factors, order, i, count, best, value, tile)
                    _search(u, columns, own_high, n, scale, factors, order, i, count, best, value, tile)
        v[:] = 0.0
        largest = 0.0
        for q in range(count):
            plus, minus = 1.0, 1.0
            if weighted:
                plus, minus = factors[hit[q]], factors[miss[q]]
                largest = max(largest, plus, minus)
            for f in range(p):
                v[f] += plus * rows[hit[q], f] - minus * rows[miss[q], f]
        bound = reach * (largest if weighted else 1.0) * count
        if np.dot(u, v) > TIE * bound:
            weight += 1.0
            continue
        _flush(A, weight, total, kept, kept_weights, updates)
        _add(A, rows[i], v, form)
        updates += 1
        weight = 1.0
        nonzero = np.any(A != 0.0)
    return weight, updates


@njit(cache=True)
def _flush(A, weight, total, kept, kept_weights, updates):  # pragma: no cover
    """Add a matrix that is about to change to the total, and to the ring of matrices kept for voting."""
    total += weight * A
    if len(kept) > 0 and updates > 0:
        slot = (updates - 1) % len(kept)
        kept[slot] = A
        kept_weights[slot] = weight


@njit(cache=True)
def _map(u, x, A, form):  # pragma: no cover
    if form == DIAGONAL:
        for f in range(len(x)):
            u[f] = x[f] * A[0, f]
        return
    u[:] = 0.0
    for m in range(len(x)):
        for f in range(len(x)):
            u[f] += x[m] * A[m, f]


@njit(cache=True)
def _add(A, x, v, form):  # pragma: no cover
    if form == DIAGONAL:
        for f in range(len(x)):
            A[0, f] += x[f] * v[f]
        return
    for m in range(len(x)):
        for f in range(len(x)):
            A[m, f] += x[m] * v[f] + (x[f] * v[m] if form == SYMMETRIC else 0.0)


@njit(cache=True)
def _scale(reach, factors):  # pragma: no cover
    """Return a power of two that scales similarities to integers below 2⁴⁰, as `lists.grid_of` does."""
    magnitude = reach * (factors.max() if factors.size > 0 else 1.0)
    exponent = np.ceil(np.log2(magnitude)) if magnitude > 0.0 else 0.0
    return 2.0 ** min(max(40.0 - exponent, -1000.0), 1000.0)


@njit(cache=True)
def _search(u, columns, begin, end, scale, factors, order, own, k, best, value, tile):  # pragma: no cover
    """Insert rows from begin to end among the k most similar; ties go to the lowest training index."""
    weighted = factors.size > 0
    p = len(u)
    start = begin
    while start < end:
        stop = min(start + TILE, end)
        scores = tile[: stop - start]
        scores[:] = 0.0
        f = 0
        # Four features at a time: a tile is loaded and stored once for four additions.
        while f + 4 <= p:
            a, b, c, d = u[f], u[f + 1], u[f + 2], u[f + 3]
            x, y = columns[f, start:stop], columns[f + 1, start:stop]
            z, w = columns[f + 2, start:stop], columns[f + 3, start:stop]
            for j in range(len(scores)):
                scores[j] += (a * x[j] + b * y[j]) + (c * z[j] + d * w[j])
            f += 4
        while f < p:
            a, x = u[f], columns[f, start:stop]
            for j in range(len(scores)):
                scores[j] += a * x[j]
            f += 1
        if weighted:
            for j in range(len(scores)):
                scores[j] *= factors[start + j]
        for j in range(len(scores)):
            scores[j] = np.rint(scores[j] * scale)
        for j in range(len(scores)):
            if scores[j] >= value[k - 1]:
                _insert(value, best, k, scores[j], start + j, order, own)
        start = stop


@njit(cache=True)
def _insert(value, best, k, score, row, order, own):  # pragma: no cover
    if row == own or (score == value[k - 1] and order[row] > order[best[k - 1]]):
        return
    rank = k - 1
    while rank > 0 and (value[rank - 1] < score or (value[rank - 1] == score and order[best[rank - 1]] > order[row])):
        value[rank], best[rank] = value[rank - 1], best[rank - 1]
        rank -= 1
    value[rank], best[rank] = score, row
