"""Rounds of a dataset with known relevant features: each round has new rows, the same for every method.

Results are reported in one *canonical* order of features, so that rounds are comparable. Selectors see the columns in a
random order that differs between rounds: among equal weights the first feature wins, so a fixed position would favour
or harm the relevant features.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mfbench.data.catalog import find
from mfbench.data.columns import contiguous, rows_of
from mfbench.data.lookup import Lookup
from mfbench.data.reference import Reference, RegisteredReference
from mfbench.errors import DataError, UsageError
from mfbench.host.expressions import Expression
from mfbench.host.factories import parameter_names
from mfbench.host.registry import Registry
from mfbench.model.specs import Dataset

SEED, SHUFFLE = "seed", "shuffle"


@dataclass(frozen=True)
class Round:
    """The data of one round."""

    data: Dataset  # columns, names and truth in the order that selectors see
    order: NDArray[np.intp]  # canonical feature of each column


def canonical_dataset(reference: Reference, registry: Registry, seed: int | None = None) -> Dataset:
    """Return a dataset in canonical column order, after checking that rounds can be drawn from it."""
    expression = reference.expression if isinstance(reference, RegisteredReference) else None
    if expression is None or not (registered := registry.entry("dataset", expression.name)).spec.embedded:
        raise _no_truth(reference)
    parameters = parameter_names(registered)
    if SEED in expression.params:
        raise UsageError(f"{reference.text!r} sets 'seed', but each round has its own seed; leave it out")
    own = {SEED: seed} if SEED in parameters and seed is not None else {}
    order = {SHUFFLE: False} if SHUFFLE in parameters else {}
    generator = Expression(expression.name, {**expression.params, **order, **own})
    data = find(RegisteredReference(generator, str(generator)), registry, Lookup()).data
    if data.relevant is None:
        raise _no_truth(reference)
    return replace(data, name=reference.text)


def _no_truth(reference: Reference) -> DataError:
    remedy = "use a generator from 'mfbench datasets list'"
    return DataError(f"dataset {reference.text!r} has no known relevant features; {remedy}")


def check_rounds(reference: Reference, registry: Registry) -> Dataset:
    """Return an example round, after checking that two seeds agree in size and truth."""
    one, other = (canonical_dataset(reference, registry, seed) for seed in (0, 1))
    for name in ("n_features", "relevant", "interactions"):
        if getattr(one, name) != getattr(other, name):
            raise DataError(
                f"dataset {reference.text!r} has other {name.replace('_', ' ')} with another seed, so rounds cannot "
                "be compared; its loader needs a parameter 'shuffle' that keeps the columns in place"
            )
    return one


def draw_round(reference: Reference, registry: Registry, seed: int) -> Round:
    """Return the data of one round, a function of the seed alone."""
    # A generator makes new data. A dataset without a parameter `seed` is a table of its distribution (the truth table
    # of a rule, for example): drawing as many rows from it with replacement makes its rounds independent samples too.
    rng = np.random.default_rng(seed)
    own = int(rng.integers(2**32))
    data = canonical_dataset(reference, registry, own)
    order = rng.permutation(data.n_features)
    assert isinstance(reference, RegisteredReference)  # `canonical_dataset` rejects the others
    if SEED not in parameter_names(registry.entry("dataset", reference.expression.name)):
        rows = rng.integers(data.n_samples, size=data.n_samples)
        data = replace(data, X=data.X[rows], y=data.y[rows], **rows_of(data, rows))
    return Round(reorder_columns(data, order), order)


def reorder_columns(data: Dataset, order: NDArray[np.intp]) -> Dataset:
    """Return a dataset whose column j is column ``order[j]`` of the original, with the truth reordered to match."""
    position = np.argsort(order).tolist()
    relevant, pairs = data.relevant, data.interactions
    if relevant is not None:
        relevant = tuple(sorted(position[j] for j in relevant))
    if pairs is not None:
        pairs = tuple(sorted((min(position[i], position[j]), max(position[i], position[j])) for i, j in pairs))
    return replace(
        data,
        X=contiguous(data.X[:, order]),
        feature_names=tuple(data.feature_names[j] for j in order),
        categorical=data.categorical[order],
        relevant=relevant,
        interactions=pairs,
    )
