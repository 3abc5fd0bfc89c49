"""The votes of neighbours: kNN-A counts the most similar rows, SkNN-A compares an equal number of rows per class.

Both rules give every class a number of votes and a strength. The votes decide; strengths break ties. SkNN-A uses
strengths only.
"""

from __future__ import annotations

import numpy as np

from mfbench_learners.compiled import njit
from mfbench_similarity._nearest.lists import Lists
from mfbench_similarity._nearest.table import Matrix

RULES = ("knn-a", "sknn-a")
# Strengths are scaled to at most this, so that neither a strength nor a difference of two outweighs a vote.
TIE_SHARE = 0.25


def by_class(lists: Lists, rule: str) -> tuple[Matrix, Matrix]:
    """Return votes and strengths of every class for a block of rows.

    With kNN-A, a class has one vote for each of its members among the k most similar rows, and its strength is their
    summed similarity. With SkNN-A, its strength is the mean similarity of its k most similar members (not the sum,
    because a class may have fewer than k). Shapes (n_rows, n_classes).
    """
    votes, strengths = np.zeros((2, *lists.index.shape[:2]))
    if rule == "knn-a":
        _vote(lists.merged_value, lists.merged_class, lists.index.shape[2], votes, strengths)
    else:
        _mean(lists.value, strengths)
    return votes, strengths * lists.step[:, None]


def against_rest(lists: Lists, rule: str) -> tuple[Matrix, Matrix]:
    """Return the lead of every class over all others together, in votes and strength. Shapes (n_rows, n_classes)."""
    votes, strengths = np.zeros((2, *lists.index.shape[:2]))
    if rule == "knn-a":
        _vote(lists.merged_value, lists.merged_class, lists.index.shape[2], votes, strengths)
        # Sums of grid steps are exact, so equal strengths cancel to 0.
        votes = 2 * votes - votes.sum(axis=1, keepdims=True)
        strengths = 2 * strengths - strengths.sum(axis=1, keepdims=True)
    else:
        rest = np.zeros_like(strengths)
        _mean(lists.value, strengths)
        _mean_without(lists.merged_value, lists.merged_class, lists.index.shape[2], rest)
        strengths -= rest
    return votes, strengths * lists.step[:, None]


def scores(votes: Matrix, strengths: Matrix, rule: str) -> Matrix:
    """Return one number per class that orders the classes of a row by votes, then by strengths."""
    if rule == "sknn-a":
        return strengths
    largest = np.abs(strengths).max(axis=1, keepdims=True)
    combined: Matrix = votes + TIE_SHARE * strengths / np.where(largest > 0, largest, 1.0)
    return combined


def leads(votes: Matrix, strengths: Matrix, rule: str) -> Matrix:
    """Return the lead of each class over the rest as one number that is comparable between rows and matrices."""
    if rule == "sknn-a":
        return strengths
    combined: Matrix = votes + TIE_SHARE * strengths / (1.0 + np.abs(strengths))
    return combined


@njit(cache=True)
def _vote(merged_value, merged_class, k, votes, strengths):  # pragma: no cover
    n_classes = votes.shape[1]
    for b in range(len(merged_value)):
        for rank in range(min(k, merged_value.shape[1])):
            c = merged_class[b, rank]
            if c == n_classes:
                break
            votes[b, c] += 1.0
            strengths[b, c] += merged_value[b, rank]


@njit(cache=True)
def _mean(value, strengths):  # pragma: no cover
    for b in range(value.shape[0]):
        for c in range(value.shape[1]):
            count, total = 0, 0.0
            for q in range(value.shape[2]):
                if value[b, c, q] > -np.inf:
                    total += value[b, c, q]
                    count += 1
            strengths[b, c] = total / count


@njit(cache=True)
def _mean_without(merged_value, merged_class, k, strengths):  # pragma: no cover
    n_classes = strengths.shape[1]
    for b in range(len(merged_value)):
        for c in range(n_classes):
            count, total = 0, 0.0
            for rank in range(merged_value.shape[1]):
                if count == k or merged_class[b, rank] == n_classes:
                    break
                if merged_class[b, rank] != c:
                    total += merged_value[b, rank]
                    count += 1
            strengths[b, c] = total / count
