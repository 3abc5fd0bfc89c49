"""A bundle that has the name of an installed suite, and another content."""

import json
import sys
from pathlib import Path

import pytest

from mfbench.api import Request, prepare_suite, run_suite
from mfbench.host.registry import load_registry
from mfbench.run import runner
from mfbench.run.environment import describe
from mfbench.run.store.metadata import RunMetadata, metadata_of
from mfbench_claims.api import bundle_run
from mfbench_claims.installed_suite import (
    differences_from_installed,
    differing_figures,
    limits_of,
    recorded_protocol,
)
from mfbench_claims.reading import opened_bundles
from mfbench_claims.writing import public_metadata

sys.path.append(str(Path(__file__).parents[1] / "run"))
from forgery import forged
from small_runs import InProcess


@pytest.fixture(scope="module")
def registry():
    return load_registry(isolated=True)


@pytest.fixture(scope="module")
def meta(tmp_path_factory):
    """The metadata in a bundle of the quick profile of the installed suite uci."""
    plan, run, registry = prepare_suite(
        Request("uci", profile="quick", only=["iris", "1NN"], out=tmp_path_factory.mktemp("out"))
    )
    return public_metadata(metadata_of(plan, run, describe(registry, jobs=1, memory=0)))


def changed(meta, change):
    content = meta.model_dump(mode="json")
    change(content)
    return RunMetadata.model_validate(json.loads(json.dumps(content)))


def test_the_installed_suite_is_the_same(meta, registry):
    assert differences_from_installed(meta, registry) == []


def test_every_difference_is_named(meta, registry):
    def change(content):
        content["suite"]["suite"]["seed"] = 7
        content["protocol"]["folds"] = 3
        content["suite"]["report"] |= {"reference": "RF", "rope": 0.02}
        methods = content["suite"]["methods"]
        del methods[-1]
        (one,) = [method for method in methods if method["label"] == "3NN"]
        one["classifier"] = "knn(n_neighbors=30)"
        methods.append({**one, "label": "MINE"})
        content["suite"]["datasets"][1]["use"].remove("wdbc")
        content["suite"]["datasets"][1]["use"].append("spambase")

    assert differences_from_installed(changed(meta, change), registry) == [
        "the seed is 7 instead of 2020",
        "protocol.folds is 3 instead of 5",
        "report.reference is RF instead of IGT",
        "report.rope is 0.02 instead of 0.01",
        "method 3NN: classifier is knn(n_neighbors=30) instead of knn(n_neighbors=3)",
        "the method MINE is added",
        "the method DUM is missing",
        "the dataset spambase is added",
        "the dataset wdbc is missing",
    ]


def test_a_part_that_is_not_the_installed_one_is_named(meta, registry):
    def narrow(content):
        content["part"] = "small"
        content["suite"]["parts"]["small"]["only"] = ["iris"]

    (clause,) = differences_from_installed(changed(meta, narrow), registry)
    assert clause.startswith("the part small is {'only': ['iris']} instead of {'only': [")


def test_the_protocol_is_that_of_the_recorded_suite_and_profile(meta):
    def shorten(content):
        content["protocol"]["folds"] = 3

    assert recorded_protocol(changed(meta, shorten), load_registry()).folds == meta.protocol.folds == 5
    other = changed(meta, lambda content: content.update(profile="mine"))
    assert recorded_protocol(other, load_registry()) == other.protocol


def test_limits_below_the_usual_ones_are_named(subtests, meta, registry):
    def lower(time, memory, name="uci", setting=0.0):
        def change(content):
            content["suite"]["suite"]["name"] = name
            content["protocol"] |= {"timeout": time, "memory": setting}
            content["environment"]["memory_limit_bytes"] = int(memory * 2**30)

        return limits_of(changed(meta, change), registry)

    for options, lowered in [
        ((600.0, 4.0), ()),
        ((900.0, 0.0), ()),  # no limit is recorded
        ((1.0, 4.0), ("1 s instead of 600 s",)),
        ((1.0, 4.0, "own"), ("1 s instead of 600 s",)),
        ((600.0, 0.25), ("0.25 GiB instead of 1 GiB",)),
        ((600.0, 4.0, "own", 0.5), ("0.5 GiB instead of 1 GiB",)),
    ]:
        with subtests.test(options=options):
            assert lower(*options).lowered == lowered


TABLE = "immigrate2020_table2"


@pytest.fixture(scope="module")
def differing(tmp_path_factory, registry):
    """Return a function that changes the metadata of a bundle and returns the clauses on its figures."""
    folder = tmp_path_factory.mktemp("figures")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "LocalPool", InProcess)
        run = run_suite("uci", profile="quick", only=["monks-1", "LFE", "1NN"], out=folder, jobs=1)
    claim = bundle_run(run, folder / "claim.zip")

    def answer(change):
        with opened_bundles([forged(claim, folder / "forged.zip", metadata=change)]) as (bundle,):
            return differing_figures(bundle, registry)

    return answer


def test_published_figures_are_those_of_the_installed_tables(differing):
    def check(meta):
        assert len(meta["published"]["figures"]) > 1

    assert differing(check) == []


def test_every_changed_figure_is_named(differing):
    def change(meta):
        figures = meta["published"]["figures"]
        (lowered,) = [each for each in figures if (each["table"], each["method"]) == (TABLE, "LFE")]
        figures[:] = [lowered | {"value": 0.5}, lowered | {"dataset": "gone"}]
        meta["published"]["tables"][TABLE]["metric"] = "balanced_accuracy"

    missing, value, title = sorted(differing(change))
    assert value.startswith(f"LFE on monks-1 in {TABLE} is 0.5 ± 0.0005 for ")
    assert title.startswith(f"{TABLE} is IMMIGRATE 2020, table 2 (balanced_accuracy) instead of IMMIGRATE 2020")
    assert missing.startswith(f"1NN on monks-1 in {TABLE} is not set instead of 0.751")


def test_a_table_cannot_be_hidden_and_one_of_their_own_is_not_read(differing):
    def hide(meta):
        meta["published"] = {"tables": {"../own.csv": {"title": "own", "metric": "accuracy"}}}

    clauses = differing(hide)
    assert any(clause.startswith(f"{TABLE} is not set instead of ") for clause in clauses)
    assert not any("own" in clause for clause in clauses)


def test_a_long_value_is_cut(meta, registry):
    def swell(content):
        content["suite"]["methods"][0]["classifier"] = f"knn(metric='{'x' * 10_000}')"

    (clause,) = differences_from_installed(changed(meta, swell), registry)
    assert clause.startswith("method REL: classifier is knn(metric='xxx") and len(clause) < 300


def test_keys_of_other_versions_are_no_difference(meta, registry):
    def age(content):
        for method in content["suite"]["methods"]:
            del method["curve"]
        content["suite"]["report"]["rope"] = 0.01  # the earlier default, and what an unset one means for accuracy

    assert differences_from_installed(changed(meta, age), registry) == []


@pytest.mark.parametrize(
    ("name", "profile", "clause"),
    [
        ("own", "quick", "no suite of this name is installed here"),
        ("uci", "mine", "the installed one has no profile 'mine'"),
    ],
)
def test_names_that_are_not_installed(meta, registry, name, profile, clause):
    def rename(content):
        content["suite"]["suite"]["name"] = name
        content["profile"] = profile

    assert differences_from_installed(changed(meta, rename), registry) == [clause]


def test_an_installed_suite_that_cannot_be_read(meta, registry, monkeypatch, tmp_path):
    path = Path(tmp_path) / "uci.toml"
    path.write_text("[suite]\n")
    monkeypatch.setattr("mfbench.suite.loading.find_suite", lambda name, registry: path)
    assert differences_from_installed(meta, registry) == ["the installed one cannot be read"]
