"""Checks of datasets that a plugin generates or ships: format, size, provenance, and reproducible content."""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import TypeVar

import numpy as np

from mfbench.base.text import counted
from mfbench.data.cache import DataOptions
from mfbench.data.columns import check_size
from mfbench.data.lookup import Lookup, content_hash
from mfbench.data.reference import RegisteredReference
from mfbench.errors import DataError, MfbenchError, suggestion
from mfbench.model.specs import Dataset
from mfbench.suite.loading import LoadedSuite, load_suite, matching, parse_suite, read_text
from mfbench.suite.plan import Plan, make_plan
from mfbench.suite.published import load_published
from mfbench.suite.resolve import resolve_datasets, resolve_methods
from mfbench.suite.schema import standard_profiles
from mfbench_check.catalog import check
from mfbench_check.display import CheckFailedError, NotApplicableError
from mfbench_check.reloading import hash_elsewhere, load, snippet
from mfbench_check.subjects import Opened

DATASET = ("dataset",)
_HASH_SEEDS = (1, 2)
_ELSEWHERE = """import os, subprocess, sys
code = "import mfbench; from mfbench.data.lookup import content_hash as h; print(h(mfbench.load_dataset({!r})))"
call = lambda env: subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True).stdout
hashes = {{call({{**os.environ, "PYTHONHASHSEED": str(seed)}}) for seed in range(5)}}
assert len(hashes) == 1, hashes"""
_SOUND = ("dataset-loads", "dataset-shape")
# Problems of a dataset: the expectation, the observation, and a Python expression that is true for a valid one.
Fault = tuple[str, str, str]


@check("dataset-loads", group="datasets", kinds=DATASET)
def can_be_loaded(subject: Opened) -> str:
    """The loader returns a `mfbench.Dataset`."""
    data = load(subject)
    return f"{np.shape(data.X)[0]} rows" if np.ndim(data.X) == 2 else ""


@check("dataset-shape", group="datasets", kinds=DATASET, needs=("dataset-loads",))
def has_the_form_of_a_table(subject: Opened) -> None:
    """`X` is a float64 table without infinite values, `y` has every class code or numbers, names are unique, masks fit.

    A class without rows, a duplicate name or a category code without a label corrupts reports, and no method complains.
    """
    data = load(subject)
    for find in (_in_values, _in_classes, _in_columns, _in_categories):
        for expected, seen, expression in find(data):
            raise CheckFailedError(expected, seen, snippet(subject, f"assert {expression}"))


def _in_values(data: Dataset) -> Iterator[Fault]:
    of_y = "int64" if data.class_names else "float64"
    for name, dtype, ndim in (("X", "float64", 2), ("y", of_y, 1), ("categorical", "bool", 1)):
        value = getattr(data, name)
        is_array = isinstance(value, np.ndarray)
        if not is_array or value.dtype != np.dtype(dtype) or value.ndim != ndim:
            seen = f"{value.dtype} of shape {value.shape}" if is_array else f"a {type(value).__name__}"
            expression = f"getattr(data.{name}, 'dtype', None) == np.{dtype} and data.{name}.ndim == {ndim}"
            yield f"{name} as an array of {dtype} with {ndim} dimension{'s' * (ndim > 1)}", seen, expression
            return
    if 0 in data.X.shape:
        yield "rows and columns", f"X has the shape {data.X.shape}", "data.X.size"
    if np.isinf(data.X).any():
        yield "finite values, and NaN where one is missing", "X has infinite values", "not np.isinf(data.X).any()"
    response = data.response
    if response is not None and not (np.shape(response) == data.y.shape and np.isfinite(response).all()):
        expression = "np.shape(data.response) == data.y.shape and np.isfinite(data.response).all()"
        yield "a finite response of each row", f"it has the shape {np.shape(response)}", expression


def _in_classes(data: Dataset) -> Iterator[Fault]:
    if len(data.y) != len(data.X):
        yield f"{len(data.X)} targets", f"y has {len(data.y)}", "len(data.y) == len(data.X)"
    if not data.class_names:
        if not np.isfinite(data.y).all() or np.ptp(data.y) == 0:
            yield (
                "finite numbers as targets, not all equal",
                "y has others",
                "np.isfinite(data.y).all() and np.ptp(data.y)",
            )
        return
    codes, n_classes = np.unique(data.y), len(data.class_names)
    if codes.tolist() != list(range(n_classes)):
        expected = f"the class codes 0 … {n_classes - 1}, each at least once"
        yield expected, f"y has {_listed(codes.tolist())}", "set(data.y.tolist()) == set(range(len(data.class_names)))"
    if twice := _twice(data.class_names):
        yield "a label for each class", f"{twice!r} occurs twice", "len(set(data.class_names)) == len(data.class_names)"


def _in_columns(data: Dataset) -> Iterator[Fault]:
    p = data.X.shape[1]
    if len(data.feature_names) != p:
        expression = "len(data.feature_names) == data.X.shape[1]"
        yield f"{p} feature names", f"there are {len(data.feature_names)}", expression
    if twice := _twice(data.feature_names):
        expression = "len(set(data.feature_names)) == len(data.feature_names)"
        yield "a name for each feature", f"{twice!r} occurs twice", expression
    other = [name for name in chain(data.feature_names, data.class_names) if not isinstance(name, str)]
    if other:
        expression = "all(isinstance(name, str) for name in (*data.feature_names, *data.class_names))"
        yield "names that are texts", f"{other[0]!r} is a {type(other[0]).__name__}", expression
    if data.categorical.shape != (p,):
        yield (
            f"a mask of {p} columns",
            f"categorical has the shape {data.categorical.shape}",
            "data.categorical.shape == data.X.shape[1:]",
        )
    if data.encoding not in ("one-hot", "ordinal"):
        expression = "data.encoding in ('one-hot', 'ordinal')"
        yield "the encoding 'one-hot' or 'ordinal'", f"it is {data.encoding!r}", expression


def _in_categories(data: Dataset) -> Iterator[Fault]:
    kinds = dict(zip(data.feature_names, data.categorical, strict=True))
    stray = [name for name in data.categories if not kinds.get(name, False)]
    if stray:
        yield (
            "labels of categorical features alone",
            f"categories has {stray[0]!r}",
            "set(data.categories) <= {name for name, one in zip(data.feature_names, data.categorical) if one}",
        )
    for index in np.flatnonzero(data.categorical):
        name = data.feature_names[index]
        codes = np.unique(data.X[:, index])
        codes = codes[~np.isnan(codes)]
        if (codes < 0).any() or (codes != np.floor(codes)).any():
            expression = f"not ((data.X[:, {index}] % 1 > 0) | (data.X[:, {index}] < 0)).any()"
            yield f"codes 0, 1, … in the categorical feature {name!r}", f"it has {_listed(codes.tolist())}", expression
        labels = data.categories.get(name)
        if labels is not None and len(codes) and codes.max() >= len(labels):
            seen = f"{len(labels)} labels, and the code {codes.max():g}"
            expression = f"np.nanmax(data.X[:, {index}]) < len(data.categories[{name!r}])"
            yield f"a label for each code of {name!r}", seen, expression
        if labels is not None and (twice := _twice(labels)):
            expression = f"len(set(data.categories[{name!r}])) == len(data.categories[{name!r}])"
            yield f"different labels of {name!r}", f"{twice!r} occurs twice", expression


def _twice(names: Sequence[str]) -> str:
    return next((name for name, count in Counter(names).items() if count > 1), "")


def _listed(values: Sequence[object]) -> str:
    return ", ".join(map(str, values[:10])) + (", …" if len(values) > 10 else "")


@check("dataset-counts", group="datasets", kinds=DATASET, needs=_SOUND)
def has_the_declared_size(subject: Opened) -> None:
    """The numbers of rows, features, classes and rows per class match those declared in the spec."""
    data, spec = load(subject), subject.spec
    if spec.class_counts == {} and spec.n_samples is spec.n_features is spec.n_classes is None:
        raise NotApplicableError("its spec declares neither a size nor class counts")
    try:
        check_size(data, spec)
    except DataError as error:
        code = f"mfbench.load_dataset({subject.name!r})  # raises DataError"
        raise CheckFailedError("the size that the spec declares", str(error), snippet(subject, code)) from error


@check("dataset-again", group="datasets", kinds=DATASET, needs=_SOUND)
def is_the_same_again(subject: Opened) -> None:
    """A second load in the same process has the same content, even if the first was modified.

    A loader that draws from a global generator gives each run different data. One that returns the same arrays twice
    exposes each method to what an earlier one wrote into them.
    """
    first = load(subject)
    before = content_hash(first)
    if content_hash(load(subject)) != before:
        lines = [
            "from mfbench.data.lookup import content_hash",
            "assert content_hash(load()) == content_hash(data)",
        ]
        raise CheckFailedError("the same content at the second load", "it differs", snippet(subject, *lines))
    for name, other in (("X", "1 + np.nan_to_num({})"), ("y", "1 + {}"), ("categorical", "not {}")):
        array = getattr(first, name)
        if not array.flags.writeable:
            continue
        value = array.flat[0]
        array.flat[0] = not value if name == "categorical" else 1 + np.nan_to_num(value)
        is_same = content_hash(load(subject)) == before
        array.flat[0] = value
        if not is_same:
            lines = [
                f"before = data.{name}.copy()",
                f"data.{name}.flat[0] = {other.format(f'data.{name}.flat[0]')}",
                f"assert np.array_equal(load().{name}, before, equal_nan={name == 'X'})",
            ]
            seen = f"a value written into {name} of the first load is in the next one"
            raise CheckFailedError("arrays of its own at each load", seen, snippet(subject, *lines))


@check("dataset-checksum", group="datasets", kinds=DATASET, needs=(*_SOUND, "dataset-again"))
def is_the_same_elsewhere(subject: Opened) -> None:
    """The content hash is the same in other processes, regardless of their ``PYTHONHASHSEED``.

    Trials are stored under this hash. If it changes, a resumed run measures everything again, on different data.
    """
    here = content_hash(load(subject))
    with ThreadPoolExecutor(len(_HASH_SEEDS)) as pool:
        hashes = list(pool.map(lambda seed: hash_elsewhere(subject, seed), _HASH_SEEDS))
    for seed, there in zip(_HASH_SEEDS, hashes, strict=True):
        if there != here:
            raise CheckFailedError(
                f"the content hash {here[:12]}… in another process",
                f"it is {there[:12]}… with PYTHONHASHSEED={seed}",
                _ELSEWHERE.format(subject.name),
            )


@check("dataset-provenance", group="datasets", kinds=DATASET, needs=("dataset-loads",))
def states_its_origin(subject: Opened) -> None:
    """The dataset or its spec states a licence, and a citation or a source.

    Without a licence the data may not be redistributed, and without an origin they cannot be identified.
    """
    spec = subject.spec
    data = load(subject) if spec.embedded else None
    stated = [name for name in ("license", "citation", "source") if getattr(spec, name) or getattr(data, name, "")]
    if "license" in stated and len(stated) > 1:
        return
    if data is None:
        raise NotApplicableError("what its spec leaves open is stated by the repository")
    lacks = "a citation or a source" if "license" in stated else "a licence"
    lines = (
        f"spec = load_registry().entry('dataset', {subject.name!r}).spec",
        "assert spec.license or data.license",
        "assert spec.citation or spec.source or data.citation or data.source",
    )
    raise CheckFailedError("a licence, and a citation or a source", f"{lacks} is missing", snippet(subject, *lines))


@check("dataset-truth", group="datasets", kinds=DATASET, needs=_SOUND)
def states_a_possible_truth(subject: Opened) -> None:
    """Relevant features and interactions are distinct, valid feature indices that agree with each other.

    Detection scores compare weights with these indices. One that is out of range, or counted twice, makes a perfect
    selector look wrong.
    """
    data = load(subject)
    if data.relevant is None and data.interactions is None:
        raise NotApplicableError("its relevant features are not given")
    p = data.n_features
    relevant, pairs = list(data.relevant or ()), [tuple(pair) for pair in data.interactions or ()]
    lines = [
        "relevant, pairs = list(data.relevant or ()), [tuple(pair) for pair in data.interactions or ()]",
        "assert all(len(pair) == 2 and pair[0] != pair[1] for pair in pairs)",
        "assert set([*relevant, *sum(pairs, ())]) <= set(range(data.n_features))",
        "assert len(set(relevant)) == len(relevant) and len(set(map(frozenset, pairs))) == len(pairs)",
        "assert data.relevant is None or set(sum(pairs, ())) <= set(relevant)",
    ]
    seen = ""
    odd = [pair for pair in pairs if len(pair) != 2 or pair[0] == pair[1]]
    members = list(chain.from_iterable(pairs))
    outside = [index for index in [*relevant, *members] if index not in range(p)]
    if odd:
        seen = f"the interaction {odd[0]} is not a pair of two features"
    elif outside:
        seen = f"{outside[0]} is not the index of one of {p} features"
    elif len(set(relevant)) < len(relevant) or len({frozenset(pair) for pair in pairs}) < len(pairs):
        seen = "a feature or an interaction occurs twice"
    elif data.relevant is not None and not set(members) <= set(relevant):
        seen = f"feature {min(set(members) - set(relevant))} interacts but is not relevant"
    if seen:
        raise CheckFailedError("indices of features, each once", seen, snippet(subject, *lines))


SUITE = ("suite",)
ALIKE = 2  # a suite may contain a thousand replicates of one dataset
T = TypeVar("T")


@check("suite-valid", group="suites", kinds=SUITE)
def is_valid(subject: Opened) -> str:
    """The file can be read, and all its profiles are valid, including the standard ones that every suite has."""
    profiles = _profiles(subject)
    for profile in profiles:
        _require(subject, lambda profile=profile: _loaded(subject, profile), profile)  # type: ignore[misc]
    return ", ".join(profiles)


@check("suite-names", group="suites", kinds=SUITE, needs=("suite-valid",))
def names_what_exists(subject: Opened) -> None:
    """Every method, dataset, parameter and published table in a profile exists, and its parts' patterns match."""
    names: set[str] = set()
    for profile in _profiles(subject):

        def resolve(profile: str = profile) -> LoadedSuite:
            loaded = _loaded(subject, profile)
            load_published(loaded, subject.registry)
            methods, left_out = resolve_methods(loaded, subject.registry)
            names.update(methods, left_out, resolve_datasets(loaded, subject.registry, _offline()))
            return loaded

        loaded = _require(subject, resolve, profile)
    for name, part in loaded.suite.parts.items():
        for pattern in part.only:
            if not matching([pattern], names):
                expected = f"a match of each pattern of the part {name!r} in some profile"
                seen = f"{pattern!r} matches nothing{suggestion(pattern, names)}"
                raise CheckFailedError(expected, seen, _snippet(subject, None, part=name))


@check("suite-plan", group="suites", kinds=SUITE, needs=("suite-valid", "suite-names"))
def has_trials(subject: Opened) -> str:
    """Every profile has at least one trial, and only data that are not on this machine are left out.

    The network is not used. Of datasets that differ only in their parameters, two are loaded.
    """
    absent: dict[str, None] = {}
    n_trials = 0
    for profile in _profiles(subject):
        plan = _require(subject, lambda profile=profile: _planned(subject, profile), profile)  # type: ignore[misc]
        if plan.failures:
            label = plan.failures[0]
            seen = f"{label!r} is left out: {plan.left_out[label]}"
            raise CheckFailedError(
                f"every dataset and method of the profile {profile!r}", seen, _snippet(subject, profile)
            )
        if not plan.trials and not plan.unavailable:
            raise CheckFailedError(f"a trial in the profile {profile!r}", "it has none", _snippet(subject, profile))
        absent |= dict.fromkeys(plan.unavailable)
        n_trials += len(plan.trials)
    if not n_trials:
        raise NotApplicableError(f"none of its data are on this machine, such as {next(iter(absent))!r}")
    return f"{counted(len(absent), 'dataset')} not on this machine, such as {next(iter(absent))!r}" if absent else ""


def _profiles(subject: Opened) -> list[str]:
    try:
        suite = parse_suite(read_text(subject.path), str(subject.path))
    except MfbenchError as error:
        raise CheckFailedError("a valid suite", _one_line(error), _snippet(subject, None)) from error
    return list(
        dict.fromkeys(
            [*standard_profiles(subject.registry.entry("protocol", suite.protocol.kind).spec), *suite.profiles]
        )
    )


def _loaded(subject: Opened, profile: str) -> LoadedSuite:
    return load_suite(str(subject.path), subject.registry, profile)


def _planned(subject: Opened, profile: str) -> Plan:
    loaded = _loaded(subject, profile)
    alike: Counter[str] = Counter()
    labels = []
    for label, entry in resolve_datasets(loaded, subject.registry, _offline()).items():
        reference = entry.reference
        name = reference.expression.name if isinstance(reference, RegisteredReference) else label
        alike[name] += 1
        if alike[name] <= ALIKE:
            labels.append(glob.escape(label))
    return make_plan(loaded, subject.registry, labels, _offline())


def _offline() -> Lookup:
    return Lookup(DataOptions.of(None, offline=True))


def _require(subject: Opened, work: Callable[[], T], profile: str) -> T:
    try:
        return work()
    except MfbenchError as error:
        raise CheckFailedError(f"a valid profile {profile!r}", _one_line(error), _snippet(subject, profile)) from error


def _one_line(error: MfbenchError) -> str:
    return "; ".join(str(error).splitlines())


def _snippet(subject: Opened, profile: str | None, part: str | None = None) -> str:
    options = f"profile={profile!r}" if part is None else f"part={part!r}"
    return "\n".join(
        [
            "from mfbench.api import Request, prepare_suite",
            f"plan, folder, registry = prepare_suite(Request({subject.name!r}, {options}, offline=True))",
            "assert plan.trials and not plan.failures, plan.left_out",
        ]
    )
