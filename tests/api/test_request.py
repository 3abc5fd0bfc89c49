"""A request: one form, whether its values come from Python or from the command line."""

import inspect
import re
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

import mfbench
from mfbench.api.request import FEATURES, Request, check_features
from mfbench.cli import main
from mfbench.cli.runs import suite
from mfbench.errors import UsageError


@pytest.fixture
def asked(monkeypatch):
    """Return a function that calls something and returns the request that it makes."""
    run = Mock(side_effect=KeyboardInterrupt)  # ends a call before anything runs
    monkeypatch.setattr("mfbench.api.run_request", run)

    def call(function, *arguments, **keywords):
        with pytest.raises((KeyboardInterrupt, SystemExit)):
            function(*arguments, **keywords)
        return run.call_args.args[0]

    return call


@pytest.mark.parametrize(
    ("words", "keywords"),
    [
        ([], {}),
        (["--only", "iris", "--only", "1*"], {"only": ["iris", "1*"]}),
        (["--add", "A = knn"], {"add": "A = knn"}),
        (["--add", "A = knn", "--add", "B = lda"], {"add": ["A = knn", "B = lda"]}),
        (["--add-data", "file:a.csv", "--target", "y"], {"add_data": "file:a.csv", "target": "y"}),
        (["--budget", "1h30m", "--jobs", "2"], {"budget": 5400, "jobs": np.int64(2)}),
        (["--out", "there/", "--data-dir", "mirror/"], {"out": "there", "data_dir": Path("mirror")}),
        (["--seed", "7", "--max-rows", "90"], {"seed": np.uint8(7), "max_rows": np.int64(90)}),
        (["--race", "plan"], {"race": "plan"}),
        (["--shard", "2/3", "--reuse", "a.zip"], {"shard": "2/3", "reuse": "a.zip"}),
        (["--reuse", "a.zip", "--reuse", "b.zip"], {"reuse": iter([Path("a.zip"), "b.zip"])}),
        (
            ["--executor", "dask", "--scheduler", "tcp://a:1", "--wait-for-workers", "1m"],
            {"executor": "dask", "scheduler": "tcp://a:1", "wait_for_workers": 60.0},
        ),
        (
            ["--profile", "full", "--part", "p", "--reference", "1NN", "--offline", "--strict", "--fresh"],
            {"profile": "full", "part": "p", "reference": "1NN", "offline": True, "strict": True, "fresh": True},
        ),
    ],
)
def test_python_and_the_command_line_ask_alike(asked, words, keywords):
    from_words = asked(main, ["suite", "uci", *words])
    from_python = asked(mfbench.run_suite, "uci", **keywords)
    assert repr(from_words) == repr(from_python)
    assert from_words == from_python and hash(from_words) == hash(from_python)


def test_every_field_is_a_keyword_and_an_option():
    names = [field.name for field in fields(Request)]
    keywords = set(inspect.signature(mfbench.run_suite).parameters)
    assert keywords == {*names, "observer"}
    assert set(inspect.signature(suite).parameters) == {*names, "name", "no_page", "explain_key", "dry_run"} - {"suite"}


def test_values_have_one_form():
    request = Request("uci", only="iris", add={"A": "knn"}, add_data="wine", budget="90s", shard="2/3", reuse="a.zip")
    assert (request.only, request.add, request.add_data) == (("iris",), (("A", "knn"),), ("wine",))
    assert (request.budget, request.shard, request.reuse) == (90.0, (2, 3), (Path("a.zip"),))
    assert Request("uci", shard="b/1.json").shard == Path("b/1.json")
    assert (request.out, request.data_dir, request.wait_for_workers) == (Path("reports"), None, None)


def test_a_request_is_frozen_and_a_changed_copy_keeps_the_rest():
    request = Request("uci", only=["iris"], add="A = knn", budget="1h", shard="1/2", reuse=["a.zip"], jobs=3)
    for name in ("suite", "only", "budget"):
        with pytest.raises(FrozenInstanceError):
            setattr(request, name, "other")
    assert replace(replace(request, offline=True), offline=False) == request


@pytest.mark.parametrize(
    ("keywords", "sentence"),
    [
        ({"jobs": -1}, "the number of workers is a whole number from 0, not -1"),
        ({"jobs": 1.5}, "the number of workers is a whole number, not 1.5"),
        ({"seed": 1.5}, "a seed is a whole number, not 1.5"),
        ({"max_rows": "9"}, "the number of rows is a whole number, not '9'"),
        ({"budget": "soon"}, "'soon' is not a duration: write a number with s, m or h, such as 10m or 1h30m"),
        ({"budget": "0s"}, "'0s' leaves no time: write a longer duration, such as 10m or 1h30m"),
        ({"budget": 0}, "a budget of 0 s leaves no time; give a positive number of seconds, or '2h'"),
        ({"executor": "dask", "wait_for_workers": "1"}, "'1' is not a duration: write a number with s, m or h"),
        ({"add": 3}, "cannot add 3 without a label: write add={'MINE': …}"),
        ({"shard": "4/3"}, "--shard '4/3' is not a shard: write its number and how many there are, such as 1/3"),
        ({"scheduler": ""}, "--scheduler is empty: write an address, or leave the option out"),
        ({"wait_for_workers": "1h"}, "--wait-for-workers needs --executor: the processes of this machine are always"),
    ],
)
def test_what_is_not_valid_is_one_sentence(keywords, sentence):
    with pytest.raises(UsageError, match=re.escape(sentence)):
        Request("uci", **keywords)


@pytest.mark.parametrize(
    ("keywords", "option", "package"),
    [
        ({"reuse": ["a.zip"]}, "--reuse", "mfbench_claims"),
        ({"executor": "dask", "scheduler": "tcp://a:1"}, "--scheduler", "mfbench_cluster"),
        ({"executor": "dask", "wait_for_workers": 1}, "--wait-for-workers", "mfbench_cluster"),
        ({"shard": "1/2"}, "--shard", "mfbench_cluster"),
        ({"race": "plan"}, "--race", "mfbench_race"),
    ],
)
def test_a_feature_needs_its_package(keywords, option, package):
    request = Request("uci", **keywords)
    every = {"mfbench_claims", "mfbench_cluster", "mfbench_race"}
    check_features(request, every)
    sentence = f"{option} needs the package {package}, which is not installed here"
    with pytest.raises(UsageError, match=f"^{sentence}$"):
        check_features(request, every - {package})


def test_a_request_without_features_needs_no_package():
    assert set(FEATURES) <= {field.name for field in fields(Request)}
    check_features(Request("uci", only=["iris"], budget="1h", fresh=True), ())
