"""The promise to plugin authors in docs/plugins.md is complete, and it holds for what the last version had."""

import dataclasses
import re
import tomllib
from pathlib import Path

import pytest

import mfbench
from mfbench.host import hookspecs
from mfbench.model.evaluation import MetricSpec, ProtocolSpec, Score, SplitterSpec, TaskSpec
from mfbench.model.sections import Cell, Chart, Section, Table
from mfbench.model.specs import ClassifierSpec, Dataset, DatasetSpec, ExecutorSpec, RegressorSpec, SelectorSpec
from mfbench.model.trials import Predictions
from mfbench.suite.protocols import Split
from mfbench_check.scaffold.render import render

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
_, _, PROMISE = GUIDE.partition("\n## What is stable\n")
PROMISE = PROMISE.partition("\n## ")[0]
NOUNS = {name: getattr(mfbench, name) for name in mfbench.__all__ if dataclasses.is_dataclass(getattr(mfbench, name))}
HOOKS = {name for name in vars(hookspecs) if name.startswith("mfbench_")}

# What mfbench 0.1 had. A line goes only after a minor version that warned of its use.
_SCORE = "greater_is_better percent lowest highest counts_decisions is_one_vs_rest"
_ESTIMATOR = "name summary factory paper defaults grid tags warm_up"
PROMISED_HOOKS = "mfbench_selectors mfbench_classifiers mfbench_datasets mfbench_suites mfbench_report_sections"
PROMISED_FIELDS = {
    SelectorSpec: f"{_ESTIMATOR} targets raw_input path",
    ClassifierSpec: _ESTIMATOR,
    RegressorSpec: f"{_ESTIMATOR} path tasks",
    TaskSpec: "name summary target learner extends metrics guess strata description",
    DatasetSpec: "name summary loader source license citation n_samples n_features n_classes class_counts openml_id "
    "uci_id mirror_name target categorical drop keep_classes collections note tags",
    Dataset: "name X y class_names feature_names categorical categories encoding relevant interactions response source "
    "license citation",
    ExecutorSpec: "name summary factory install",
    Score: _SCORE,
    MetricSpec: f"name summary function needs defaults expected_failures {_SCORE}",
    ProtocolSpec: "name summary protocol keys published profiles metrics scores",
    Split: "train test tuning",
    Predictions: "y_true y_pred y_score classes is_probability decisions",
    SplitterSpec: "name summary factory needs resampling is_random inner",
    Section: "title tables charts notes data rows plugin",
    Table: "columns rows title footer_rows wrap",
    Cell: "text role",
    Chart: "name title caption text spec alt",
}
REQUIRED = {
    SelectorSpec: "name summary factory",
    ClassifierSpec: "name summary factory",
    RegressorSpec: "name summary factory",
    TaskSpec: "name summary",
    DatasetSpec: "name summary",
    Dataset: "name X y class_names feature_names categorical",
    ExecutorSpec: "name summary factory",
    Score: "",
    MetricSpec: "name summary function",
    ProtocolSpec: "name summary protocol keys",
    Split: "train test",
    Predictions: "y_true y_pred y_score classes is_probability",
    SplitterSpec: "name summary factory",
    Section: "title",
    Table: "columns",
    Cell: "text",
    Chart: "name title",
}


def documented(cls):
    """Return the fields that the docstrings of a class and its bases describe: {name: default}."""
    texts = [base.__dict__.get("__doc__") or "" for base in reversed(cls.__mro__) if dataclasses.is_dataclass(base)]
    lines = re.findall(r"^ {4}(\w[\w, ]*) : (.+)$", "\n".join(texts), re.MULTILINE)
    return {name: text.partition("default=")[2] or "required" for names, text in lines for name in names.split(", ")}


def default_of(field):
    if field.default is not dataclasses.MISSING:
        return f"{field.default!r}".replace("'", '"')
    return "required" if field.default_factory is dataclasses.MISSING else f"{field.default_factory()!r}"


@pytest.mark.parametrize("noun", NOUNS)
def test_every_field_is_documented_with_its_default(noun):
    """In the docstring, which the site shows."""
    described = documented(NOUNS[noun])
    for field in dataclasses.fields(NOUNS[noun]):
        assert described.get(field.name) == default_of(field), f"{noun}.{field.name} in its docstring"


@pytest.mark.parametrize("hook", sorted(HOOKS))
def test_every_hook_is_documented(hook):
    assert f"\n### `{hook}`\n" in GUIDE


def test_every_fitted_attribute_that_mfbench_reads_is_documented():
    files = [*(ROOT / "mfbench" / "run").rglob("*.py"), *(ROOT / "plugins" / "mfbench_protocols").glob("*.py")]
    sources = "\n".join(path.read_text(encoding="utf-8") for path in files)
    read = set(re.findall(r"\b(?:selector|classifier|estimator)\.([a-z]\w*[a-z]_)\b", sources))
    read |= set(re.findall(r"""(?:has|get)attr\(\w+, "([a-z]\w*[a-z]_)\"""", sources))
    assert {"feature_importances_", "classes_"} <= read
    assert set(re.findall(r"^\| `(\w+_)` ", PROMISE, re.MULTILINE)) == read


@pytest.mark.parametrize("cls", PROMISED_FIELDS, ids=lambda cls: cls.__name__)
def test_nothing_that_plugins_rely_on_is_gone_or_became_required(cls):
    fields = {field.name: field for field in dataclasses.fields(cls)}
    assert set(PROMISED_FIELDS[cls].split()) <= set(fields)
    assert {name for name, field in fields.items() if default_of(field) == "required"} == set(REQUIRED[cls].split())
    assert set(NOUNS.values()) == set(PROMISED_FIELDS)


@pytest.mark.parametrize(
    "cls",
    [SelectorSpec, ClassifierSpec, MetricSpec, DatasetSpec, ExecutorSpec, SplitterSpec, Dataset],
    ids=lambda cls: cls.__name__,
)
def test_fields_are_keywords(cls):
    assert all(field.kw_only for field in dataclasses.fields(cls))


def test_no_hook_is_gone():
    assert set(PROMISED_HOOKS.split()) <= HOOKS


def test_the_documented_range_of_versions_is_that_of_the_generated_package():
    assert "`mfbench>=0.N,<0.(N+2)`" in PROMISE
    requirements = tomllib.loads(render("demo")["pyproject.toml"])["project"]["dependencies"]
    ((low, high),) = [re.findall(r"0\.(\d+)", one) for one in requirements if one.startswith("mfbench")]
    assert int(high) == int(low) + 2


def test_the_guide_shows_the_lines_that_the_generated_tests_have():
    (block,) = re.findall(r"```text\n(from mfbench.testing.*?)```", GUIDE, re.DOTALL)
    generated = render("demo")["tests/test_plugin.py"]
    assert all(line in generated.splitlines() for line in block.splitlines())
