"""Checks of splitters and protocols: which rows they train and test on."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable, Iterator
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import numpy as np

from mfbench.errors import MfbenchError, describe_error
from mfbench.host.probes import shown
from mfbench.suite.protocols import EvaluationProtocol, Split, make_protocol
from mfbench.suite.splitters import Splitter, made
from mfbench_check.catalog import check
from mfbench_check.display import CheckFailedError, NotApplicableError
from mfbench_check.subjects import Opened

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Arrays = tuple[NDArray[np.int64], NDArray[Any] | None]

SPLITTER, PROTOCOL = ("splitter",), ("protocol",)
FOLDS = (3, 5)
REPEATS = 2  # that are checked of a protocol
_ROWS = 120
_OTHER_SEEDS = 5  # a few rows may be split in the same way by two seeds, not by all of these


def drawn_rows(needs: str = "", seed: int = 0) -> Arrays:
    """Return the classes of rows, and the group, time or part of each: 15 groups, 40 times, or folds from -1 to 3."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(_ROWS) % 2)
    by = {
        "groups": rng.permutation(np.arange(_ROWS) % 15),
        "time": rng.permutation(np.arange(_ROWS) % 40) / 4,
        "split": rng.permutation(np.arange(_ROWS) % 5) - 1,
    }
    return y, by.get(needs)


def splitter_named(name: str) -> Splitter:
    """Return a splitter of the installed plugins; for snippets."""
    from mfbench.host.registry import load_registry

    return made(name, load_registry())


def same_rows(splits: Any, others: Any) -> bool:
    """Return whether two lists of pairs have the same rows."""
    pairs = [[np.asarray(rows).tolist() for split in each for rows in split] for each in (splits, others)]
    return pairs[0] == pairs[1]


@check("splitter-made", group="splits", kinds=SPLITTER)
def can_be_made(subject: Opened) -> None:
    """The factory can be imported and called, and what it makes has a method `split` and can be pickled.

    A copy by pickle splits the rows of worker processes.
    """
    lines = ["import pickle", "assert callable(pickle.loads(pickle.dumps(splitter.made)).split)"]
    try:
        splitter = made(subject.name, subject.registry)
        copy = pickle.loads(pickle.dumps(splitter.made))  # nosec B301  # made here
    except (MfbenchError, Exception) as error:
        reason = str(error) if isinstance(error, MfbenchError) else describe_error(error)
        raise CheckFailedError("an object that can be pickled", reason, _snippet(subject, *lines)) from error
    if not callable(getattr(copy, "split", None)):
        raise CheckFailedError("a method split", f"{shown(splitter.made)} has none", _snippet(subject, *lines))


@check("splitter-rows", group="splits", kinds=SPLITTER, needs=("splitter-made",))
def parts_are_apart(subject: Opened) -> None:
    """Each split has training and test rows, which are rows of the data, and no row is in both parts or tested twice.

    The rows are 120 of two classes, with the groups, times or parts that the splitter needs.
    """
    for folds in FOLDS:
        _pairs(subject, folds)


@check("splitter-structure", group="splits", kinds=SPLITTER, needs=("splitter-rows",))
def keeps_what_it_needs(subject: Opened) -> None:
    """Rows of one group are in one part, or all training rows are earlier than all test rows, by `needs`.

    Otherwise scores flatter every method.
    """
    needs = subject.spec.needs
    if needs not in ("groups", "time"):
        raise NotApplicableError("it needs neither groups nor times")
    by = drawn_rows(needs, subject.seed)[1]
    assert by is not None
    for folds in FOLDS:
        for train, test in _pairs(subject, folds):
            if needs == "groups" and np.isin(by[test], by[train]).any():
                seen = f"a group in both, with {folds} folds"
                code = "not np.isin(by[test], by[train]).any()"
                raise CheckFailedError("groups that are whole in one part", seen, _each(subject, folds, code))
            if needs == "time" and by[train].max() >= by[test].min():
                seen = f"a training row of the time {by[train].max():g}, a test row of {by[test].min():g}"
                code = "by[train].max() < by[test].min()"
                raise CheckFailedError("training rows before all test rows", seen, _each(subject, folds, code))


@check("splitter-seed", group="splits", kinds=SPLITTER, needs=("splitter-rows",))
def depends_on_the_seed_alone(subject: Opened) -> None:
    """The same seed gives the same splits, of a pickled copy too; other seeds give others if the spec says so."""
    pairs, splitter = _pairs(subject), made(subject.name, subject.registry)
    copy = pickle.loads(pickle.dumps(splitter.made))  # nosec B301  # made here
    y, by = drawn_rows(subject.spec.needs, subject.seed)
    for again, line in [
        (_pairs(subject), "same_rows(splitter.pairs(y, by, 3, 0), splitter.pairs(y, by, 3, 0))"),
        (
            Splitter(splitter.expression, copy, splitter.needs, splitter.is_random, "").pairs(y, by, FOLDS[0], 0),
            "same_rows(splitter.made.split(y, by, 3, 0), pickle.loads(pickle.dumps(splitter.made)).split(y, by, 3, 0))",
        ),
    ]:
        if not same_rows(pairs, again):
            lines = ["import pickle"] if "pickle" in line else []
            snippet = _snippet(subject, *lines, f"assert {line}")
            raise CheckFailedError("the same splits with the same seed", "other rows", snippet)
    equal = [same_rows(pairs, _pairs(subject, seed=seed)) for seed in range(1, _OTHER_SEEDS + 1)]
    if all(equal) if subject.spec.is_random else not all(equal):
        code = (
            f"[same_rows(splitter.pairs(y, by, 3, 0), splitter.pairs(y, by, 3, s)) for s in range({_OTHER_SEEDS + 1})]"
        )
        is_random = subject.spec.is_random
        raise CheckFailedError(
            f"{'other' if is_random else 'the same'} splits with other seeds, as the spec has is_random={is_random}",
            f"{sum(equal)} of {len(equal)} other seeds give the same",
            _snippet(subject, f"same = {code}", "assert not all(same)" if is_random else "assert all(same)"),
        )


def _pairs(subject: Opened, folds: int = FOLDS[0], seed: int = 0) -> list[Any]:
    try:
        splitter = made(subject.name, subject.registry)
        return splitter.pairs(*drawn_rows(subject.spec.needs, subject.seed), folds, seed)
    except MfbenchError as error:
        snippet = _snippet(subject, f"splitter.pairs(y, by, {folds}, {seed})")
        raise CheckFailedError("pairs of training and test rows that are apart", str(error), snippet) from error


def _each(subject: Opened, folds: int, condition: str) -> str:
    loop = f"for train, test in splitter.pairs(y, by, {folds}, 0):"
    return _snippet(subject, loop, f"    assert {condition}", head=("import numpy as np",))


def _snippet(subject: Opened, *lines: str, head: tuple[str, ...] = ()) -> str:
    """Return Python code that demonstrates a failure."""
    imports = "drawn_rows, same_rows, splitter_named" if any("same_rows" in line for line in lines) else ""
    first = [
        *head,
        f"from mfbench_check.checks.splits import {imports or 'drawn_rows, splitter_named'}",
        f"splitter = splitter_named({subject.name!r})",
        f"y, by = drawn_rows({subject.spec.needs!r}, {subject.seed})",
    ]
    return "\n".join([*first, *lines])


@check("protocol-made", group="splits", kinds=PROTOCOL)
def can_be_constructed(subject: Opened) -> None:
    """The constructor takes the seed and each key, and the protocol describes itself in a text.

    It is made with the values of both forms and of all profiles, which are values that JSON and TOML have.
    """
    spec = subject.spec
    for name, values in _settings(subject):
        if strange := sorted(set(spec.profiles.get(name, {})) - set(spec.keys)):
            raise CheckFailedError(f"keys of the protocol in the profile {name!r}", f"{strange[0]!r} is none")
        for key, value in values.items():
            if not _is_plain(value):
                raise CheckFailedError(f"a value of {key} that JSON and TOML have", shown(value))
        protocol = _protocol(subject, values)
        for what in ("folds", "repeats"):
            if not isinstance(getattr(protocol, what, None), int) or getattr(protocol, what) < 1:
                raise CheckFailedError(f"{what}: a whole number from 1", shown(getattr(protocol, what, None)))
        if getattr(protocol, "kind", None) != spec.name:
            raise CheckFailedError(f"kind = {spec.name!r}", shown(getattr(protocol, "kind", None)))
        ratio = _asked("test_train_ratio", getattr, protocol, "test_train_ratio")
        if not isinstance(ratio, int | float) or not 0 <= ratio < math.inf:
            raise CheckFailedError("test_train_ratio: a number from 0", shown(ratio))
        for method in ("describe", "describe_tuning"):
            text = _asked(method, getattr(protocol, method))
            if not isinstance(text, str) or not text.strip():
                raise CheckFailedError(f"a text of {method}()", shown(text))
    for field in ("runner", "resolver"):
        _asked(field, resolve_name, getattr(spec, field))


@check("protocol-splits", group="splits", kinds=PROTOCOL, needs=("protocol-made",))
def tests_other_rows(subject: Opened) -> None:
    """Each repeat has its folds; test rows are neither training rows nor rows for tuning, and all are rows of the data.

    The rows are 120 of two classes.
    """
    for _, values in _settings(subject):
        protocol = _protocol(subject, values)
        for repeat in range(min(REPEATS, protocol.repeats)):
            splits = _splits(subject, protocol, repeat)
            if len(splits) != protocol.folds or not all(isinstance(split, Split) for split in splits):
                raise CheckFailedError(f"{protocol.folds} Split objects of each repeat", shown(splits))
            for split in splits:
                _require_apart(split, predicts=subject.spec.predicts)


def _require_apart(split: Split, *, predicts: bool) -> None:
    fitted = [split.train, *(split.tuning or ())]
    for rows in (*fitted, split.test):
        if not isinstance(rows, np.ndarray) or rows.ndim != 1 or rows.dtype.kind not in "iu":
            raise CheckFailedError("arrays of row numbers", shown(rows))
        if len(rows) and (rows.min() < 0 or rows.max() >= _ROWS):
            raise CheckFailedError(f"row numbers from 0 to {_ROWS - 1}", f"from {rows.min()} to {rows.max()}")
    if not all(len(rows) for rows in fitted) or (predicts and not len(split.test)):
        raise CheckFailedError("rows to train and to test", "a part is empty")
    both = np.intersect1d(np.concatenate(fitted), split.test)
    if len(both):
        raise CheckFailedError("test rows that nothing is fitted on", f"row {both[0]} is in both parts")
    if len(np.unique(split.test)) < len(split.test):
        raise CheckFailedError("test rows that differ", "a row is tested twice")


@check("protocol-seed", group="splits", kinds=PROTOCOL, needs=("protocol-splits",))
def splits_depend_on_the_seed_alone(subject: Opened) -> None:
    """Two protocols with the same values and the same seed give the same splits, as each worker makes its own."""
    for _, values in _settings(subject):
        one, other = _protocol(subject, values), _protocol(subject, values)
        for repeat in reversed(range(min(REPEATS, one.repeats))):
            first, again = (_splits(subject, protocol, repeat) for protocol in (one, other))
            _splits(subject, other, 0)  # so that it is in another state than the first one
            same = same_rows(map(_rows_of, first), map(_rows_of, again))
            features = [[(split.feature_share, split.feature_seed) for split in each] for each in (first, again)]
            if not same or features[0] != features[1]:
                raise CheckFailedError("the same splits with the same seed", f"other rows in repeat {repeat}")


def _rows_of(split: Split) -> tuple[NDArray[np.intp], ...]:
    return (split.train, split.test, *(split.tuning or ()))


def _settings(subject: Opened) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the values of the keys in each form and each profile, with its name."""
    spec = subject.spec
    for form in ("sound", "published"):
        yield form, spec.values(form)
    for name, values in spec.profiles.items():
        yield name, {**spec.values("sound"), **values}


def _protocol(subject: Opened, values: dict[str, Any]) -> EvaluationProtocol:
    try:
        protocol = make_protocol(subject.spec, values, subject.seed)
    except MfbenchError as error:
        raise CheckFailedError("a protocol with these keys", str(error)) from error
    if not isinstance(protocol, EvaluationProtocol):
        raise CheckFailedError("an mfbench.EvaluationProtocol", shown(protocol))
    return protocol


def _splits(subject: Opened, protocol: EvaluationProtocol, repeat: int) -> list[Split]:
    y = drawn_rows(seed=subject.seed)[0]
    return list(_asked("splits", protocol.splits, "drawn", y, repeat))


def _asked(what: str, question: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return question(*arguments)
    except Exception as error:
        raise CheckFailedError(f"{what} of a protocol", f"it raised {describe_error(error)}") from error


def _is_plain(value: Any) -> bool:
    try:
        return bool(json.loads(json.dumps(value, allow_nan=False)) == (list(value) if type(value) is tuple else value))
    except (TypeError, ValueError):
        return False
