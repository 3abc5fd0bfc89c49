"""Methods and datasets that a command adds to a suite: parsed from text or Python objects, checked, appended.

An addition is text, for instance ``MINE = relieff(n_neighbors=5) -> top 5 -> knn``. Python objects are converted to
such text first, so that a command can resume the run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from mfbench.data.catalog import check_exists, collection_names, in_collection, located, resolved_reference
from mfbench.data.lookup import DatasetStatus, Lookup
from mfbench.data.reference import FileReference, OpenMLSuiteReference, Reference, RepositoryReference, parse_reference
from mfbench.errors import MfbenchError, UnknownNameError, UsageError, explained, suggestion
from mfbench.host.declared import expression_of
from mfbench.host.expressions import is_reference, parse
from mfbench.host.probes import shown
from mfbench.host.registry import Registry
from mfbench.suite.loading import LoadedSuite, load_suite
from mfbench.suite.resolve import resolve_datasets
from mfbench.suite.schema import Datasets, Method
from mfbench.suite.validation_messages import describe

FORM = "write LABEL = LEARNER or LABEL = SELECTOR -> LEARNER, such as 'MINE = relieff(n_neighbors=5) -> knn'"
TABLES = (".csv", ".tsv", ".arff", ".parquet", ".gz")
_RULE = re.compile(r"top\s+(\S.*)", re.DOTALL)
_LABEL = re.compile(r"((?:[^=()]|\([^()]*\))*)=")
# A quoted text, whose end may be missing, an arrow, or a single character.
_TOKEN = re.compile(r"""'(?:\\.|[^'\\])*(?:'|\Z)|"(?:\\.|[^"\\])*(?:"|\Z)|->|.""", re.DOTALL)
_SHOWN = 200  # characters of an addition in a message


def option_of(text: str, name: str = "--add") -> str:
    """Return an option with its value, for messages."""
    cut = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return f'{name} "{"".join(c if c.isprintable() else repr(c)[1:-1] for c in cut)}"'


def parse_addition(text: str, learner: str = "classifier") -> Method:
    """Parse a method: a label, a selector, a rule for the features to keep, and a learner of some kind."""
    option = option_of(text)
    label, steps = _split_label(text)
    pieces = _split_steps(steps)
    rule = _RULE.fullmatch(pieces[1]) if len(pieces) > 1 else None
    expressions = [piece for position, piece in enumerate(pieces) if position != 1 or rule is None]
    if not label or "->" in label or "→" in label or not all(pieces) or len(expressions) > 2:
        raise UsageError(f"{option}: {FORM}")
    if not label.isprintable():
        raise UsageError(f"{option}: the label has characters that cannot be printed; leave them out")
    for expression in expressions:
        with _located(option):
            parse(expression, references=True)
    values: dict[str, Any] = {"label": label}
    if rule is not None or len(expressions) > 1:
        values["selector"] = expressions[0]
        values |= {learner: expressions[1]} if len(expressions) > 1 else {}
    else:
        values[learner] = expressions[0]
    if rule is not None:
        values["top"] = _rule_value(rule[1].strip())
    try:
        return Method.model_validate(values)
    except ValidationError as error:
        raise UsageError(f"{option}: {describe(error, Method, values)[0]}") from None


def _located(place: str) -> AbstractContextManager[None]:
    """Start the message of a `UsageError` with the option or label that it is about."""
    return explained(UsageError, lambda reason: f"{place}: {reason}", UsageError)


def _split_label(text: str) -> tuple[str, str]:
    """Split off the label; an equals sign in brackets belongs to a parameter."""
    label = _LABEL.match(text)
    return ("", text) if label is None else (label[1].strip(), text[label.end() :])


def _split_steps(text: str) -> list[str]:
    """Return the parts between arrows; an arrow in quotes or brackets belongs to a parameter."""
    pieces, depth = [""], 0
    for token in _TOKEN.findall(text):
        if token in ("->", "→") and depth == 0:
            pieces.append("")
        else:
            depth += (token in "([{") - (token in ")]}")
            pieces[-1] += token
    return [piece.strip() for piece in pieces]


def _rule_value(text: str) -> str | int | float:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def additions_of(add: Any, registry: Registry) -> list[str]:
    """Return methods as text in the syntax of `parse_addition`."""
    return [item if isinstance(item, str) else _text_of(item, registry) for item in items_of(add)]


def items_of(add: Any) -> tuple[Any, ...]:
    """Return methods one by one: a text or a (label, method) pair each, as accepted by `additions_of`."""
    if isinstance(add, str):
        return (add,)
    items = add.items() if isinstance(add, Mapping) else add
    if not isinstance(items, Iterable):
        raise UsageError(f"cannot add {shown(add)} without a label: write add={{'MINE': …}}")
    return tuple(items)


def _text_of(item: Any, registry: Registry) -> str:
    if not (isinstance(item, tuple | list) and len(item) == 2 and isinstance(item[0], str)):
        raise UsageError(f"cannot add {shown(item)} without a label: write add={{'MINE': …}}, or pairs (label, method)")
    label, value = item
    steps = value if isinstance(value, tuple | list) else (value,)
    if len(steps) not in (1, 2):
        raise UsageError(f"cannot add {label!r}: expected a learner, or a pair of a selector and a learner")
    selectors, learners = registry.listed("selector"), registry.listed("regressor") | registry.listed("classifier")
    tables = (selectors, learners) if len(steps) == 2 else (selectors | learners,)
    with _located(label):
        parts = [
            step if isinstance(step, str) else str(expression_of(step, table))
            for step, table in zip(steps, tables, strict=True)
        ]
    text = f"{label} = {' -> '.join(parts)}"
    if _split_label(text)[0] != label:
        raise UsageError(f"{label!r} cannot be the label of an added method: leave out '=' and blanks at its ends")
    return text


def with_additions(
    loaded: LoadedSuite,
    registry: Registry,
    add: Sequence[str] = (),
    add_data: Sequence[str] = (),
    target: str | None = None,
    reference: str | None = None,
    groups: str | None = None,
    time: str | None = None,
    weights: str | None = None,
) -> LoadedSuite:
    """Return a suite with additional methods and datasets, and optionally another reference."""
    methods = _methods(loaded, registry, add)
    columns = {"groups": groups, "time": time, "weights": weights}
    tables = _tables(add_data, target, columns, loaded.task.name)
    report = loaded.suite.report
    if reference is not None:
        labels = [method.label for method in (*loaded.suite.methods, *methods.values())]
        if reference not in labels:
            raise UsageError(f"--reference: no method has the label {reference!r}{suggestion(reference, labels)}")
        report = report.model_copy(update={"reference": reference})
    changes = {
        "methods": [*loaded.suite.methods, *methods.values()],
        "datasets": [*loaded.suite.datasets, *tables],
        "report": report,
    }
    options = [("--add", text) for text in add] + [("--add-data", text) for text in add_data]
    named = {"--target": target, **{f"--{name}": column for name, column in columns.items()}}
    options += [(option, column) for option, column in named.items() if column is not None]
    options += [("--reference", reference)] if reference is not None else []
    first = len(loaded.suite.datasets)
    return replace(
        loaded,
        suite=loaded.suite.model_copy(update=changes),
        request=(*loaded.request, *(word for option in options for word in option)),
        added_methods={method.label: option_of(text) for text, method in methods.items()},
        added_data={first + number: option_of(text, "--add-data") for number, text in enumerate(add_data)},
    )


def _methods(loaded: LoadedSuite, registry: Registry, add: Sequence[str]) -> dict[str, Method]:
    """Return the added methods by their text, and declare their classes."""
    holders = dict.fromkeys((method.label for method in loaded.suite.methods), "a method of the suite")
    methods: dict[str, Method] = {}
    for text in add:
        option = option_of(text)
        method = _fitting(parse_addition(text, loaded.task.learner), option, loaded, registry)
        if method.label in holders:
            holder = holders[method.label]
            raise UsageError(f"{option}: {method.label!r} is already the label of {holder}; choose another one")
        holders[method.label] = "another addition"
        declare_classes(method, option, registry)
        methods[text] = method
    return methods


def _fitting(method: Method, option: str, loaded: LoadedSuite, registry: Registry) -> Method:
    """Adapt a method to the protocol: with a learner if test rows are predicted, else with a single step."""
    kind = loaded.task.learner
    learner = method.steps.get(kind)
    learners = registry.listed(kind)
    if loaded.spec.predicts:
        if learner is None:
            target = loaded.task.target
            raise UsageError(f"{option}: the suite predicts {target}, so write a {kind} after the rule, such as knn")
        name = parse(learner, references=True).bare_name
        if method.selector is None and name in _names(registry.listed("selector")) - _names(learners):
            raise UsageError(f"{option}: {name!r} is a selector; write a {kind} after it, such as '{name} -> knn'")
        return method
    if method.selector is not None and learner is not None:
        raise UsageError(
            f"{option}: the protocol {loaded.protocol.kind!r} predicts nothing, so leave out '-> {learner}'"
        )
    if method.selector is None and learner is not None:
        name = parse(learner, references=True).bare_name
        if is_reference(name) or name not in _names(learners) - _names(registry.listed("selector")):
            return method.model_copy(update={"selector": learner, kind: None})
    return method


def _names(listed: Mapping[str, object]) -> set[str]:
    return {name.partition("@")[0] for name in listed}


def declare_classes(method: Method, option: str, registry: Registry) -> None:
    """Declare the classes that a method names by import path; an error message starts with the option."""
    for kind, text in method.steps.items():
        with _located(option):
            registry.declare_expression(kind, parse(text, references=True))


def _tables(
    add_data: Sequence[str], target: str | None, columns: Mapping[str, str | None], task: str
) -> list[Datasets]:
    """Return a table for each added dataset; target and task apply to datasets with selectable columns."""
    for name, column in columns.items():
        if column is not None and not add_data:
            raise UsageError(
                f"--{name} {column!r} is a column of an added dataset: add one with --add-data, or leave --{name} out"
            )
    tables = []
    for text in add_data:
        option = option_of(text, "--add-data")
        if ":" not in text and Path(text).suffix.lower() in TABLES:
            raise UsageError(f"{option}: to add a file, write --add-data file:{text}")
        with _located(option):
            reference = parse_reference(text)
        has_columns = isinstance(reference, FileReference | RepositoryReference)
        if isinstance(reference, FileReference):
            text = f"{FileReference.prefix}{reference.path.absolute()}"
        # A suite may restrict the classes of its own datasets; added data must keep all classes.
        own: dict[str, Any] = {"use": [text], "classes": "all", **columns}
        own |= {"target": target, "task": task} if has_columns else {}
        try:
            tables.append(Datasets.model_validate(own))
        except ValidationError as error:
            raise UsageError(f"{option}: {describe(error, Datasets, own)[0]}") from None
    if target is not None and not any(table.target for table in tables):
        raise UsageError(
            f"--target {target!r} is the target column of an added dataset: add one with --add-data 'file:PATH', "
            "'openml:ID' or 'uci:ID', or leave --target out"
        )
    return tables


def pull(words: Sequence[str], registry: Registry, lookup: Lookup) -> Iterator[DatasetStatus]:
    """Download datasets into the cache."""
    for label, reference in _references(words, registry, lookup).items():
        try:
            loaded = located(reference, registry, lookup)
        except MfbenchError as error:
            yield DatasetStatus(label, "failed", str(error))
            continue
        shape = f"{loaded.data.n_samples} rows, {loaded.data.n_features} features, {loaded.data.n_classes} classes"
        yield DatasetStatus(label, loaded.location, shape if loaded.location in ("cache", "network") else "")


def _references(words: Sequence[str], registry: Registry, lookup: Lookup) -> dict[str, Reference]:
    """Return the datasets that the words refer to, by label."""
    references: dict[str, Reference] = {}
    for word in words:
        if word.endswith(".toml") or registry.suite_names.has(word):
            entries = resolve_datasets(load_suite(word, registry), registry, lookup)
            references |= {label: entry.reference for label, entry in entries.items()}
        elif word in collection_names(registry):
            references |= {name: parse_reference(name) for name in in_collection(registry, word)}
        else:
            references |= {reference.text: reference for reference in _datasets(word, registry, lookup)}
    return references


def _datasets(word: str, registry: Registry, lookup: Lookup) -> Sequence[Reference]:
    """Return the dataset that a word refers to, or the members of an OpenML suite."""
    if not set(word) & set(":(@") and not registry.table("dataset").has(word):
        names = [*registry.listed("dataset"), *registry.suites(), *collection_names(registry)]
        raise UnknownNameError("dataset, suite or collection", word, names, "see 'mfbench datasets list'")
    reference = parse_reference(word)
    if isinstance(reference, OpenMLSuiteReference):
        return lookup.suite(reference)
    reference = resolved_reference(reference, registry)
    check_exists(reference, registry)
    return [reference]
