"""A bundle that has the name of an installed suite, and another content."""

import json
from pathlib import Path

import pytest

from mfbench.api import prepare_suite
from mfbench.bundles.installed_suite import differences_from_installed
from mfbench.bundles.public_metadata import public_metadata
from mfbench.host.registry import load_registry
from mfbench.run.environment import describe
from mfbench.run.metadata import RunMetadata, metadata_of


@pytest.fixture(scope="module")
def registry():
    return load_registry(isolated=True)


@pytest.fixture(scope="module")
def meta(tmp_path_factory):
    """The metadata in a bundle of the quick profile of the installed suite uci."""
    plan, run, registry = prepare_suite(
        "uci", profile="quick", only=["iris", "1NN"], out=tmp_path_factory.mktemp("out")
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
        content["suite"]["report"]["reference"] = "RF"
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
        "method 3NN: classifier is knn(n_neighbors=30) instead of knn(n_neighbors=3)",
        "the method MINE is added",
        "the method DUM is missing",
        "the dataset spambase is added",
        "the dataset wdbc is missing",
    ]


def test_a_long_value_is_cut(meta, registry):
    def swell(content):
        content["suite"]["methods"][0]["classifier"] = f"knn(metric='{'x' * 10_000}')"

    (clause,) = differences_from_installed(changed(meta, swell), registry)
    assert clause.startswith("method REL: classifier is knn(metric='xxx") and len(clause) < 300


def test_keys_of_other_versions_are_no_difference(meta, registry):
    def age(content):
        for method in content["suite"]["methods"]:
            del method["curve"]

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
