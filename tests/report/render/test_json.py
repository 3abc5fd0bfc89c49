"""JSON has the data of every section; what does not exist is null; the schema describes every document."""

import copy
import json
import math
import types
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator
from toy_protocols import completed, recorded

from mfbench import hookimpl, load_run
from mfbench.host.registry import load_registry
from mfbench.model.evaluation import Score
from mfbench.model.sections import Report, Section
from mfbench.model.trials import Interactions, Status, TrialResult
from mfbench.report.contents import CONTENTS, kind_of, report_of
from mfbench.report.present import reanalyse, report_of_table
from mfbench.report.render.files import HISTORY, POWER, REPORT, VERSIONS, schema, to_json
from mfbench.report.sections.across_datasets import power_report
from mfbench.report.sections.remarks import remarks
from mfbench.run.store.metadata import RecordedShard
from mfbench.run.store.store import Store
from mfbench.stats.cells import MISSING_POLICIES
from mfbench.stats.rules import RULES
from mfbench.suite.published import Description, PublishedCount, PublishedFigure, PublishedTable, read_published
from mfbench_gate.history.display import history_report
from mfbench_gate.history.trends import select_series, trend_of
from mfbench_protocols.plugin import DETECTION_METRICS


def json_of(run):
    return to_json(report_of(run, everything=True))


def read_json(text):
    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


class TestJson:
    def test_everything_is_there_and_missing_values_are_null(self, write_run, failure, small_run):
        run = write_run(
            {
                ("d", "A"): [failure()] * 5,
                ("d", "B"): [None] * 5,
                ("d", "C"): [0.5, None, None, None, None],
                ("d", "D"): 0.5,
            }
        )
        content = read_json(json_of(run))
        by_method = {row["method"]: row for row in content["scores"]}
        assert by_method["A"]["mean"] is None
        assert by_method["C"]["mean"] == 0.5
        assert by_method["C"]["sd"] is None
        assert by_method["C"]["complete"] is False
        assert {row["method"]: row["rank"] for row in content["summary"]}["A"] is None
        assert content["not_run"] == 9
        assert len(content["failures"]) == 5

    def test_numbers_are_those_of_the_frames(self, small_run):
        content = read_json(json_of(small_run))
        assert (content["title"], content["metric"], content["reference"]) == ("Own suite", "accuracy", "B")
        assert (content["test"], content["alpha"]) == ("corrected-t", 0.05)
        assert [row["mean"] for row in content["scores"]] == small_run.scores["mean"].tolist()
        assert [row["verdict"] for row in content["wins_ties_losses"]] == ["tie", "win", "loss"]
        assert content["left_out"] == {"gone": "no network"}
        assert content["datasets"][0]["classes"] == {"no": 1, "yes": 3}
        assert content["methods"] == small_run.methods
        assert content["failures"][0]["error_message"] == "no | way\nat all"

    def test_letters_are_letters(self, write_run):
        assert "Größe" in json_of(write_run({("Größe", "A"): 0.5}))

    @pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
    def test_infinite_scores_are_null(self, write_run):
        run = write_run({("d", "A"): [math.inf, 0.5, 0.5, 0.5, 0.5]}, metrics=["log_loss"])
        content = read_json(json_of(run))
        assert content["scores"][0]["mean"] is None
        assert violations(content) == []

    def test_no_trials(self, write_run):
        assert read_json(json_of(write_run({}, left_out=[("gone", "no network")])))["scores"] == []


def test_data_of_a_plugin_are_under_its_name():
    sections = [Section("A", data={"a": lambda: 1}), Section("B", data={"a": lambda: [2]}, plugin="own")]
    content = read_json(to_json(Report("t", "s", sections)))
    assert content.pop("schema") == {"name": "mfbench-report", "version": 1}
    assert content == {"a": 1, "plugin_data": {"own": {"a": [2]}}}


# Documents of every kind, made once. Each function takes what `write_run` returns.


def comparison(write):
    """Return a run in which every section has rows: failures, trials that have not run, published figures, pairs."""
    rng = np.random.default_rng(0)

    def cell(mean, interactions=None):
        return [
            TrialResult(key="", scores={"accuracy": x, "log_loss": 1 - x}, fit_wall=0.25, interactions=interactions)
            for x in rng.normal(mean, 0.01, 5)
        ]

    def weights(p_values):
        return Interactions(np.array([[0, 1]]), np.array([1.0]), np.array([1]), p_values, 2.0, 1)

    methods = {"A": (0.9, weights(np.array([0.01]))), "B": (0.8, weights(None)), "C": (0.7, None)}
    cells = {(d, m): cell(*values) for d in "def" for m, values in methods.items()}
    failures = [
        TrialResult(key="", status=status, error_type="E", error_message="no") for status in Status if status != "ok"
    ]
    cells |= {("g", "A"): [*failures, None], ("g", "B"): [0.5, None, None, None, None], ("g", "C"): cell(0.7)}
    figures = [
        PublishedFigure("t", dataset, method, dataset.upper(), 0.81, "other rows" if dataset == "f" else "")
        for method, datasets in (("A", "defg"), ("B", "defg"), ("C", "d"))
        for dataset in datasets
    ]
    counts = [PublishedCount("t", "A", "B", 19, 0, 1)]
    metrics = ("accuracy", "log_loss")
    return write(
        cells,
        metrics=metrics,
        published=figures,
        counts=counts,
        interactions=((0, 1),),
        left_out=[("h", "no")],
        rows=300,
    )


def shard(write):
    run = write({("d", "A"): 0.5})
    with Store(run.path) as store:
        shard = RecordedShard(numbers=[2], of=3, run="quick-1a", digest="d", n_trials=15)
        store.record("shard", shard.model_dump(mode="json"))
        store.record("part", "small")
    return load_run(run.path)


def by_rule(rule, folds):
    """Return a function that makes a run whose rule is `rule`, with scores that allow a test and scores that do not."""

    def make(write):
        rng = np.random.default_rng(0)
        cells = {(d, m): list(rng.normal(0.7, 0.01, folds)) for d in "de" for m in "ABC"}
        run = write(cells | {("same", m): [0.5] * folds for m in "ABC"}, report={"test": rule})
        right = {m: [np.random.default_rng(k).random(40) < 0.7] * folds for k, m in enumerate("ABC")}
        run.decisions = lambda dataset, method: right["A" if dataset == "same" else method]
        return run

    return make


def detection(write):
    """Return a run of ground-truth; its trials are rounds, and methods that weigh no pairs have no figure for them."""
    rng = np.random.default_rng(0)

    def rounds(pairs):
        chances = rng.random((5, len(DETECTION_METRICS)))
        scores = [dict(zip(DETECTION_METRICS, map(float, row), strict=True)) for row in chances]
        return [
            TrialResult(key="", scores=s if pairs else {**s, "pair_detection": math.nan}, selected=np.array([0]))
            for s in scores
        ]

    cells = {(d, m): rounds(pairs=m != "B") for d in "de" for m in "ABC"}
    run = write(cells | {("f", m): rounds(pairs=True)[:2] for m in "ABC"})
    protocol = completed(kind="ground-truth", rounds=5, metrics=["detection"])
    run.meta = run.meta.model_copy(update=recorded(protocol, rules={"A": "positive", "B": "relevant", "C": 1}))
    run.trials = run.trials.assign(repeat=run.trials["fold"], fold=0)
    return run


def timing(write):
    """Return a run of timing: three sizes, of which B did not complete the largest one, and C only the smallest."""
    late = TrialResult(key="", status=Status.TIMEOUT)
    run = write({("d", "A"): 0.5, ("d", "B"): [0.5, late, 0.5], ("d", "C"): [0.5, None, None]}, folds=3)
    protocol = completed(kind="timing", repeats=1, steps=2)
    run.meta = run.meta.model_copy(update=recorded(protocol))
    sizes = {"fold": [0, 1, 2], "n_train": [50, 100, 100], "n_features": [2, 2, 1]}
    run.sizes = pd.DataFrame({"dataset": "d", "repeat": 0, **sizes, "n_validation": 0, "n_test": 9})
    return run


def calibration(write):
    """Return a run of methods that are equal by construction."""
    rng = np.random.default_rng(0)
    cells = {(f"two(seed={i})", m): list(rng.random(5)) for i in range(4) for m in "AB"}
    run = write(cells, report={"equal": [["A", "B"]]})
    right = {m: [rng.random(20) < 0.7 for _ in range(5)] for m in "AB"}
    run.decisions = lambda dataset, method: right[method]
    return run


def empty(write):
    """Return a run whose datasets were all left out."""
    run = write({}, left_out=[("gone", "no network")])
    run.meta = run.meta.model_copy(update={"methods": {"A": "a", "B": "b", "C": "c"}})
    return run


def ranked_alike(number):
    """Return methods with their scores on a dataset; all datasets rank them alike, by differences that vary."""
    return ("A", 0.9), ("B", 0.8 - 0.01 * number), ("C", 0.5)


def ended_by_a_budget(write):
    """Return a run of which a budget left two trials, and one method without any result."""
    cells = {("d", "A"): [0.9, 0.8], ("d", "B"): [0.5, None], ("e", "A"): [0.5, 0.5], ("e", "B"): [None, None]}
    run = write(cells, folds=2)
    with Store(run.path) as store:
        store.record("ended_budget", 90.0)
    return load_run(run.path)


def curves(write, curved):
    """Return a run of curves: B failed once, so it is not compared; C failed on e, and G on d, the only truth."""
    rng = np.random.default_rng(0)
    late = TrialResult(key="", status=Status.TIMEOUT)

    def cell(*means, **others):
        return [curved(list(np.array(means) + rng.normal(0, 0.01, 3)), **others) for _ in range(5)]

    unknown = {"log_loss": [math.nan] * 3}
    cells = {(d, "A"): cell(0.5, 0.7, 0.9, **unknown) for d in "de"}
    cells |= {(d, "B"): [*cell(0.5, 0.7, 0.9, **unknown)[:4], late] for d in "de"}
    cells |= {("d", "C"): cell(0.5, 0.5, 0.5, **unknown), ("e", "C"): [late] * 5}
    cells |= {("d", "E"): [curved([0.1], (4,)), *[late] * 4], ("e", "E"): [late] * 5}
    cells |= {("d", "G"): [late] * 5, ("e", "G"): cell(0.5, 0.7, 0.9, **unknown)}
    describe = {"G": "g → svm"}
    return write(cells, metrics=("accuracy", "log_loss"), features="uvwx", relevant={"d": [0, 1]}, describe=describe)


RUNS = {
    "comparison": comparison,
    "detection": detection,
    "timing": timing,
    "calibration": calibration,
    "empty": empty,
    "ended by a budget": ended_by_a_budget,
    "shard": shard,
    "without methods": lambda write: write({}),
    "not started": lambda write: write({(d, m): [None] * 5 for d in "de" for m in "ABC"}),
    "one cell": lambda write: write({("d", "A"): 0.5}),
    "ranked alike": lambda write: write({(i, m): x for i in "123456789" for m, x in ranked_alike(int(i))}),
    "smaller is better": lambda write: write({(d, m): 0.3 for d in "de" for m in "AB"}, metrics=["log_loss"]),
    **{rule: by_rule(rule, 5) for rule in RULES},
    "two folds": by_rule("corrected-t", 2),
    "single test set": by_rule("mcnemar", 1),
}
"""A function that makes a run for each kind of report, and for each reason why a number does not exist."""


def costs(run):
    yield Section("Costs", data={"costs": lambda: {"A": 1}, "rows": lambda: pd.DataFrame({"a": [1]})})


@pytest.fixture(scope="module")
def documents(run_writer, tmp_path_factory, curved):
    """The report of each run as JSON, with a section of a plugin."""
    write = run_writer(tmp_path_factory.mktemp("runs"))
    plugin = types.SimpleNamespace(mfbench_report_sections=hookimpl(costs))
    registry = load_registry(only=[], extra=[("own", plugin)])
    runs = {name: make(write) for name, make in RUNS.items()} | {"curves": curves(write, curved)}
    return {name: read_json(to_json(report_of(run, registry, everything=True))) for name, run in runs.items()}


def table(**values):
    """Return a published table of three datasets and the methods that `values` has figures of."""
    figures = {("abc"[i], method): x for method, row in values.items() for i, x in enumerate(row) if x is not None}
    return PublishedTable("t", Description(), figures, {})


TABLES = {
    "shipped": lambda: read_published("immigrate2020_table2", load_registry(only=["suites"]), Path()),
    "gaps": lambda: table(A=[0.5, 0.6, None], B=[0.4, 0.7, 0.8]),
    "one method": lambda: table(A=[0.5, 0.6, 0.7]),
    "nothing": lambda: table(A=[0.5, None, None], B=[None, 0.6, None]),
}


# What the schema requires, and which of its keys a document has.


def violations(content, form="run"):
    """Return what is not valid in a document, a sentence each."""
    assert next(iter(content)) == "schema"
    parts = {"$ref": f"#/$defs/{form}", "$defs": schema()["$defs"]}
    wrong = [f"{error.json_path}: {error.message}" for error in Draft202012Validator(parts).iter_errors(content)]
    # Exactly one of the four forms fits, so that nothing is valid by the form of another document.
    assert Draft202012Validator(schema()).is_valid(content) == (not wrong)
    return wrong


def parts_of(node):
    """Yield every schema within a schema."""
    yield node
    children = [*node.get("properties", {}).values(), *node.get("$defs", {}).values(), *node.get("anyOf", [])]
    children += [node[key] for key in ("items", "additionalProperties") if isinstance(node.get(key), dict)]
    for child in children:
        yield from parts_of(child)


def keys_of(content, node, name=""):
    """Yield (name of a definition, key, whether it is null) for each key of a document that the schema names."""
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        node = schema()["$defs"][name]
    for choice in node.get("anyOf", []):
        if content is not None and "$ref" in choice:
            yield from keys_of(content, choice)
    if isinstance(content, list):
        for item in content:
            yield from keys_of(item, node.get("items", {}), name)
    elif isinstance(content, dict):
        properties = node.get("properties", {})
        yield from ((name, key, value is None) for key, value in content.items() if key in properties)
        others = node.get("additionalProperties")
        for key, value in content.items():
            yield from keys_of(value, properties.get(key, others if isinstance(others, dict) else {}))


def kind(node):
    """Return what a value may be, as one word."""
    if "$ref" in node:
        return node["$ref"].rpartition("/")[2]
    if "anyOf" in node:
        return "|".join(map(kind, node["anyOf"]))
    if "items" in node:
        return f"[{kind(node['items'])}]"
    if isinstance(node.get("additionalProperties"), dict):
        return f"{{{kind(node['additionalProperties'])}}}"
    named = node.get("type", "enum" if "enum" in node else "const")
    return named if isinstance(named, str) else "|".join(named)


class TestSchema:
    def test_it_is_valid_and_every_definition_is_used(self):
        Draft202012Validator.check_schema(schema())
        assert schema() is schema()
        used = {part["$ref"] for part in (*parts_of(schema()), *schema()["oneOf"]) if "$ref" in part}
        assert used == {f"#/$defs/{name}" for name in schema()["$defs"]}

    def test_every_property_and_every_definition_has_a_description(self):
        for part in parts_of(schema()):
            for name, content in (part.get("properties", {}) | part.get("$defs", {})).items():
                assert content.get("description", "").endswith("."), name

    def test_objects_with_fixed_keys_allow_no_others(self):
        for name, part in schema()["$defs"].items():
            assert part["additionalProperties"] is (name == "environment"), name
            assert set(part["required"]) <= set(part["properties"]), name
        optional = {name: set(part["properties"]) - set(part["required"]) for name, part in schema()["$defs"].items()}
        assert optional.pop("run") == {"plugin_problems"}
        assert {name for name, keys in optional.items() if keys} == {"environment"}

    def test_the_words_of_its_enumerations_are_those_of_the_code(self):
        run = schema()["$defs"]["run"]["properties"]
        assert run["test"]["enum"] == run["published_test"]["enum"] == list(RULES)
        assert run["missing"]["enum"] == list(MISSING_POLICIES)
        assert schema()["$defs"]["paired_rounds"]["properties"]["figure"]["enum"] == list(DETECTION_METRICS)
        assert schema()["$defs"]["failure"]["properties"]["status"]["enum"] == [s for s in Status if s != Status.OK]

    def test_the_versions_are_those_of_the_code(self):
        for form, name in (("run", REPORT), ("table", REPORT), ("power", POWER), ("history", HISTORY)):
            head = schema()["$defs"][form]["properties"]["schema"]["properties"]
            assert (head["name"]["const"], head["version"]["const"]) == (name, VERSIONS[name])

    def test_version_1_keeps_its_keys_and_their_types(self):
        """A new key needs no change here. If this fails, raise the version and describe the change in the changelog."""
        for line in VERSION_1.strip().splitlines():
            name, *keys = line.split()
            properties = schema()["$defs"][name]["properties"]
            assert (
                dict(key.split(":") for key in keys).items()
                <= {key: kind(part) for key, part in properties.items()}.items()
            ), name
        assert {line.split()[0] for line in VERSION_1.strip().splitlines()} == set(schema()["$defs"])


class TestDocuments:
    def test_the_report_of_a_run(self, documents):
        for name in [*RUNS, "curves"]:
            assert violations(documents[name]) == []

    def test_there_is_a_run_of_every_kind(self, write_run):
        for kind in ("comparison", "detection", "timing", "calibration", "empty"):
            assert kind_of(RUNS[kind](write_run)) == {"detection": "rounds", "timing": "own"}.get(kind, kind)

    def test_the_report_of_a_published_table(self):
        for make in TABLES.values():
            table = make()
            report = report_of_table(table, Score(), reanalyse(table, Score()), statistics=True)
            assert violations(read_json(to_json(report)), "table") == []

    def test_what_a_run_can_see(self, documents, write_run):
        for name in ("comparison", "single test set", "ranked alike"):
            run = RUNS[name](write_run)
            content = read_json(to_json(power_report(run, run.power(0.01)), POWER))
            assert violations(content, "power") == []
            assert content["on_datasets"] and content["across"]

    def test_the_trends_of_a_history(self, make_entry):
        for after, kernels in ((1.3, (0.1, 0.1, 0.1)), (0.7, None)):
            entries = [make_entry(k, 1.0 if k < 6 else after, kernels=kernels) for k in range(12)]
            trends = [trend_of(series) for series in select_series(entries, "time")]
            content = read_json(to_json(history_report("h", "time", trends), HISTORY))
            assert violations(content, "history") == []
            assert content["series"][0]["changes"]

    def test_every_key_of_a_report_occurs_and_is_null_if_it_may_be(self, documents):
        """What no report contains would be a promise that nothing keeps."""
        occurring = {key for content in documents.values() for key in keys_of(content, {"$ref": "#/$defs/run"})}
        names = {name for name, _, _ in occurring if name not in ("", "environment")}
        assert names >= {
            "run",
            "score",
            "companion",
            "detection",
            "timing",
            "rejection",
            "true_interactions",
            "curve_point",
        }
        for name in names:
            for key, part in schema()["$defs"][name]["properties"].items():
                assert (name, key, False) in occurring
                assert ((name, key, True) in occurring) == ("null" in kind(part).split("|")), (name, key)

    def test_every_section_is_in_the_schema(self, small_run):
        keys = {key for entry in CONTENTS for key in entry.build(small_run).data} | set(remarks(small_run).data)
        assert keys <= set(schema()["$defs"]["run"]["properties"])

    def test_what_the_schema_does_not_have_is_refused(self, documents, small_run):
        report = report_of(small_run, everything=True)
        new = Section("New", data={"novelty": lambda: 1})
        (message,) = violations(read_json(to_json(Report("t", "s", [*report.sections, new], report.data))))
        assert "'novelty' was unexpected" in message
        message, *_ = violations(read_json(to_json(Report("t", "s", report.sections[1:], report.data))))
        assert "'rejections' is a required property" in message
        for change in (
            lambda content: content["scores"][0].update(novelty=1),
            lambda content: content["scores"][0].pop("sd"),
            lambda content: content["scores"][0].update(planned=None),
            lambda content: content["overall"]["pairs"][0].update(p_value=None),
            lambda content: content["overall"]["friedman"].update(novelty=1),
            lambda content: content["schema"].update(version=2),
            lambda content: content["plugin_data"].update(own=1),
        ):
            content = copy.deepcopy(documents["comparison"])
            change(content)
            assert len(violations(content)) == 1


VERSION_1 = """
run schema:object title:string setting:string metric:string reference:string|null test:enum alpha:number
run published_test:enum rope:number missing:enum methods:{string} datasets:[dataset] only:[string]
run environment:environment rejections:[rejection] worse_than_best:[worse_than_best] timing:[timing]
run detection:[detection] compare_rounds:[paired_rounds] scores:[score] wins_ties_losses:[verdict]
run companions:[companion] summary:[method] overall:overall time_ratios:{{number|null}} published:[published]
run published_summary:[published_summary] published_counts:[published_count] true_interactions:[true_interactions]
run plugin_problems:[string] left_out:{string} unavailable:[string] failures:[failure] not_run:integer
run curves:[curve_point] curve_summary:[curve_summary] curve_overview:[curve_overview]
run plugin_data:{object} ended_budget:number|null coverage:[coverage]
table schema:object title:string table:string metric:string reference:string|null alpha:number rope:number
table overall:overall plugin_data:{object}
power schema:object title:string metric:string reference:string difference:number power:number alpha:number
power comparisons:integer on_datasets:[power_on_dataset] across:[power_across] plugin_data:{object}
history schema:object history:string measure:string series:[series] plugin_data:{object}
dataset dataset:string n_samples:integer n_features:integer trivial_accuracy:number classes:{integer} sha256:string
dataset source:string
environment mfbench:string python:string implementation:string system:string cpu:string cpus:integer
environment memory_bytes:integer jobs:integer threads_per_worker:integer memory_limit_bytes:integer
environment libraries:{string|null} plugins:[string] git_commit:string|null command:[string]
score dataset:string method:string mean:number|null sd:number|null planned:integer completed:integer complete:boolean
score best:boolean not_worse:boolean p_best:number|null
companion metric:string dataset:string method:string largest_class:number mean:number|null sd:number|null
companion planned:integer completed:integer complete:boolean best:boolean not_worse:boolean p_best:number|null
verdict method:string dataset:string difference:number low:number|null high:number|null p_value:number|null verdict:enum
verdict published:enum sound:enum mark:enum better:number|null equal:number|null worse:number|null
verdict detectable:number|null reason:string
method method:string mean:number|null rank:number|null win:integer tie:integer loss:integer no_verdict:integer
method published_win:integer published_tie:integer published_loss:integer published_no_verdict:integer sound_win:integer
method sound_tie:integer sound_loss:integer sound_no_verdict:integer tune_seconds:number select_seconds:number
method fit_seconds:number predict_seconds:number total_seconds:number peak_memory:integer failed:integer planned:integer
overall datasets:[string] dropped:[string] absent:[string] filled:integer ranks:{number} friedman:friedman|null
overall critical_difference:number|null not_separated:[[string]] not_worse:[string] comparisons:integer
overall cap:number families:{string} these_datasets:[these_datasets] like_these:[like_these]
overall against_reference:[against_reference] pairs:[pair] win_probabilities:{{number}}
these_datasets first:string second:string mean:number low:number|null high:number|null low_all:number|null
these_datasets high_all:number|null least:number most:number p_value:number|null holm:number|null beyond:number|null
these_datasets equal:number|null tau:number|null better:integer within:integer worse:integer
like_these first:string second:string mean:number low:number high:number low_all:number high_all:number adjusted:number
like_these named:number|null equal:number better:number better_low:number better_high:number worse:number
like_these worse_low:number worse_high:number
friedman n_datasets:integer n_methods:integer chi2:number p_value:number f:number|null f_p_value:number
pair first:string second:string mean:number difference:number low:number|null high:number|null effect:number
pair p_value:number holm:number detectable:number|null
against_reference first:string second:string mean:number difference:number low:number|null high:number|null
against_reference effect:number p_value:number holm:number detectable:number|null better:number equal:number
against_reference worse:number
published table:string dataset:string label:string method:string metric:string ours:number|null published:number
published difference:number|null low:number|null high:number|null uncertainty:number|null
published repeats_to_decide:number|null verdict:enum reason:string
published_summary table:string method:string datasets:integer above:integer equivalent:integer undecided:integer
published_summary below:integer difference:number low:number|null high:number|null verdict:enum
published_count table:string reference:string method:string our_wins:integer our_ties:integer our_losses:integer
published_count printed_wins:integer printed_ties:integer printed_losses:integer
rejection rule:string first:string second:string group:string datasets:integer rejected:integer frequency:number
rejection low:number high:number
worse_than_best first:string methods:integer group:string comparisons:integer rejected:integer frequency:number
worse_than_best low:number high:number
timing dataset:string method:string n_train:integer n_features:integer seconds:number|null rows_exponent:number|null
timing features_exponent:number|null
detection dataset:string method:string figure:enum mean:number|null sd:number|null low:number|null high:number|null
detection rounds:integer planned:integer
paired_rounds dataset:string method:string figure:enum difference:number low:number|null high:number|null
paired_rounds p_value:number|null p_wilcoxon:number rounds:integer verdict:enum detectable:number|null reason:string
true_interactions dataset:string method:string true_pairs:integer n_pairs:integer share:number p_value:number|null
true_interactions rank:number folds:integer
curve_point dataset:string method:string metric:string size:integer mean:number|null sd:number|null low:number|null
curve_point high:number|null folds:integer seconds:number stability:number|null precision:number|null
curve_point recall:number|null
curve_summary dataset:string method:string classifier:string area:number|null area_linear:number|null
curve_summary best_size:number|null best_mean:number|null sufficient_size:number|null sufficient_mean:number|null
curve_summary close_size:number|null stability:number|null precision:number|null recall:number|null folds:integer
curve_summary planned:integer
curve_overview classifier:string method:string area:number|null area_linear:number|null rank:number|null
curve_overview compared:integer datasets:integer sufficient_size:number|null sufficient_on:integer
curve_overview close_size:number|null close_on:integer stability:number|null precision:number|null recall:number|null
coverage dataset:string planned:integer compared:integer not_reached:[string]
failure dataset:string method:string repeat:integer fold:integer status:enum error_type:string|null
failure error_message:string|null
power_on_dataset method:string dataset:string rows:integer folds:integer repeats:integer difference:number
power_on_dataset detectable:number|null unlimited:number|null repeats_needed:integer|null rows_needed:integer|null
power_on_dataset reason:string
power_across method:string datasets:integer difference:number sd:number|null detectable:number|null
power_across datasets_needed:integer|null
series suite:string profile:string source:string method:string dataset:string size:string measure:string machine:machine
series points:[point] n_zero:integer changes:[change]
machine cpu:string cpus:integer system:string id:string text:string
point commit:string date:string value:number calibration:calibration|null
calibration gemm:number memory:number python:number
change position:integer before:number after:number size:number is_worse:boolean last_before:point first_after:point
change kernels:number|null machine_is_likelier:boolean within_commit:boolean bisect:string|null
"""
"""The keys of version 1 with their types, a definition of the schema in each line."""
