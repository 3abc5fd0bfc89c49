"""Parts of a bundle's suite that are missing from its plan, without a pattern or recorded reason to exclude them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from operator import itemgetter

from mfbench.data.reference import FileReference, OpenMLSuiteReference, parse_reference
from mfbench.errors import DataError, UsageError
from mfbench.run.store.metadata import RunMetadata
from mfbench.suite.loading import matching
from mfbench.suite.protocols import make_protocol
from mfbench.suite.schema import Suite, check_trials
from mfbench_claims.installed_suite import recorded_protocol
from mfbench_claims.rebuilt_plan import Surroundings, recorded_suite
from mfbench_claims.verification import Place

# The clause for each kind of part, and the coordinates that it groups by; the largest parts come first.
_PARTS = {
    "the dataset {0}": (0,),
    "the method {1}": (1,),
    "repeat {2} of every dataset and method": (2,),
    "repeat {2}, fold {3} of every dataset and method": (2, 3),
    "{1} on {0}": (0, 1),
    "every method on {0}, repeat {2}, fold {3}": (0, 2, 3),
    "{1} on every dataset, repeat {2}, fold {3}": (1, 2, 3),
    "{1} on {0}, repeat {2}, fold {3}": (0, 1, 2, 3),
}


def dropped_parts(
    meta: RunMetadata,
    planned: Collection[Place],
    left_out: Mapping[str, str],
    here: Surroundings,
    unsuited: Collection[tuple[str, str]] = (),
) -> dict[str, int]:
    """Return the parts that are unexpectedly missing from the plan of a bundle."""
    loaded = recorded_suite(meta, here.registry)
    suite = loaded.suite
    datasets, methods = list(_labels(suite, here)), [method.label for method in suite.methods]
    for patterns in (suite.parts[meta.part].only if meta.part in suite.parts else (), meta.only):
        kept_datasets, kept_methods = matching(patterns, datasets), matching(patterns, methods)
        datasets = [label for label in datasets if label in kept_datasets or not kept_datasets]
        methods = [label for label in methods if label in kept_methods or not kept_methods]
    protocol = make_protocol(loaded.spec, recorded_protocol(meta, here.registry).model_dump(), meta.seed)
    check_trials(len(datasets), len(methods), protocol.folds, protocol.repeats, "the bundle's suite")
    for own in meta.splits.values():
        check_trials(len(datasets), len(methods), own.folds, own.repeats, "the bundle's suite")
    expected = [
        (dataset, method, *fold)
        for dataset in datasets
        for method in methods
        for fold in protocol.coordinates(meta.splits.get(dataset))
        if not (left_out.get(dataset, "").strip() or left_out.get(method, "").strip() or (dataset, method) in unsuited)
    ]
    return _clauses(expected, [place for place in expected if place not in planned])


def _labels(suite: Suite, here: Surroundings) -> Iterator[str]:
    """Yield the labels of a suite's datasets."""
    texts = [text for group in suite.datasets for text in group.use]
    for text in texts:
        try:
            reference = parse_reference(text)
        except UsageError:
            yield text
            continue
        if isinstance(reference, OpenMLSuiteReference):
            with suppress(DataError):  # without the suite's list, omissions cannot be detected
                yield from (member.text for member in here.lookup.suite(reference))
        elif not isinstance(reference, FileReference):
            yield reference.text
        elif texts.count(text) == 1:  # duplicate file names are labelled by path, which bundles do not include
            yield reference.path.name


def _clauses(expected: list[Place], missing: list[Place]) -> dict[str, int]:
    """Return a clause on each missing part of the expected trials, with its number of trials."""
    clauses: Counter[str] = Counter()
    rest = missing
    for form, positions in _PARTS.items():
        part_of = itemgetter(*positions)
        sizes, gone, left = (Counter(map(part_of, places)) for places in (expected, missing, rest))
        # Group several methods or datasets on a fold; a single trial is named individually.
        least = 2 if 3 in positions and len(positions) < 4 else 1
        whole = {part for part, number in left.items() if number >= least and gone[part] == sizes[part]}
        clauses.update(form.format(*place) for place in rest if part_of(place) in whole)
        rest = [place for place in rest if part_of(place) not in whole]
    return dict(clauses)
