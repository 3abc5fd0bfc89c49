"""Mutants of suite files: each is planned, or refused by sentences; nothing else, and nothing hangs."""

import random
import re

import numpy as np
import pytest

from mfbench import Dataset, DatasetSpec
from mfbench.errors import MfbenchError
from mfbench.host.registry import load_registry
from mfbench.suite import schema
from mfbench.suite.loading import load_suite
from mfbench.suite.plan import make_plan

SUITE = """
[suite]
name = "own"
title = "A title"
seed = 7
profile = "tiny"

[protocol]
kind = "repeated-cv"
folds = 3
repeats = 2
metrics = ["accuracy", "mcc"]
timeout = 60
classes = "all"

[profiles.tiny]
folds = 2
repeats = 1

[[datasets]]
use = ["made", "made(shift=2.0)"]
replicates = { tiny = 1, full = 2 }

[[datasets]]
use = ["file:own.csv"]
target = "y"

[[methods]]
label = "A"
selector = "weigh(power=2)"
classifier = "nearest(shift=1)"
top = 1
tune = { shift = [1, 3], "selector.power" = { first = 1, last = 4, count = 2, spacing = "log" } }
search = { kind = "random", n = 3 }

[[methods]]
label = "B"
classifier = "plain"

[report]
reference = "A"
test = "corrected-t"
equal = [["A", "B"]]
published = "own-table.csv"
"""
VALUES = [
    *("-1", "0", "1", "2.5", "1e400", "-inf", "nan", "inf", "9" * 5000, "0x" + "f" * 4000, "1_000_000_000", "true"),
    *('""', '"a"', "'''\n'''", '"\\u001b[31m"', '"[bold red]x[/bold red]"', '"' + "a" * 10_000 + '"', '"\\u0000"'),
    *("[]", "{}", "[[]]", "[[[[1]]]]", "[nan, inf]", "{ a = 1 }", "1979-05-27", "07:32:00", '"A"', '["A", "A"]'),
    *('"file:' + "x" * 300 + '"', '"file:../../../etc/passwd"', '"file:"', '"openml:1e9"', '"uci:-1"', '"blobs"'),
    *('"blobs("', '"blobs(shift=)"', '"blobs(shift=1e999)"', '"blobs(**{})"', '"__import__(\\"os\\")"', '"nearest"'),
    *(
        '"nearest(shift=[0x1, [0x2]])"',
        '"nearest(shift=' + "9" * 5000 + ')"',
        '"nearest(shift=' + "[" * 500 + ')"',
        '"top"',
    ),
    *("{ first = 1, last = inf, count = 3 }", "{ first = 0, last = 1, count = 3, spacing = 'log' }"),
    *("{ first = 1, last = 1" + "0" * 400 + ", count = 3 }", "{ first = 1, last = 2, count = 10000 }", '"positive"'),
    *("{ first = -1" + "0" * 400 + ", last = 1e308, count = 7, spacing = 'log' }", '"all-weighted"', '"default"'),
    *("{ kind = 'halving', factor = 2 }", "{ kind = 'random', n = 1" + "0" * 400 + " }", "{ kind = [], n = {} }"),
    *("{ shift = { first = 9223372036854775807, last = -1e308 } }", "{ top = { first = 1e308, last = -1e308 } }"),
]


def make_dataset(seed, shift):
    y = np.arange(24) % 2
    X = np.random.default_rng(seed).normal(size=(24, 3)) + shift * y[:, None]
    return Dataset(name="made", X=X, y=y, class_names=("a", "b"), feature_names=("u", "v", "w"))


def mutant(seed):
    """Return the suite with one to four mistakes."""
    rng = random.Random(seed)
    text = SUITE
    for _ in range(rng.randint(1, 4)):
        lines = text.split("\n")
        place = rng.randrange(len(lines))
        kind = rng.randrange(8)
        if kind <= 3:
            assigned = [number for number, line in enumerate(lines) if " = " in line]
            if assigned:
                place = rng.choice(assigned)
                key = lines[place].split(" = ")[0]
                lines[place] = f"{key} = {rng.choice(VALUES)}"
        elif kind == 4:
            del lines[place]
        elif kind == 5:
            lines.insert(rng.randrange(len(lines) + 1), lines[place])
        elif kind == 6:
            lines[place] = re.sub(r"[a-z]+", lambda m: m[0][::-1] if rng.random() < 0.3 else m[0], lines[place])
        text = "\n".join(lines)
        if kind == 7:
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice(["\0", "[", "]", '"', "=", "\ufeff", "\x1b", "é", "{", "#"]) + text[at + 1 :]
    return text


@pytest.fixture
def answer(tmp_path, make_plugin, toy_plugin, monkeypatch):
    """Return a function that plans a suite and returns the message if it is refused."""
    made = DatasetSpec(name="made", summary="", loader=lambda seed=0, shift=1.0: make_dataset(seed, shift))
    plugins = [("toy", toy_plugin), ("made", make_plugin("made_plugin", datasets=[made]))]
    registry = load_registry(only=[], extra=plugins)
    monkeypatch.setattr(schema, "MOST_TRIALS", 5000)
    monkeypatch.setattr(schema, "MOST_POINTS", 5000)
    (tmp_path / "own.csv").write_text("a,b,y\n" + "".join(f"{i},{i * i % 7},{i % 2}\n" for i in range(20)))
    (tmp_path / "own-table.csv").write_text("dataset,method,value\nblobs,A,90.5\n")
    path = tmp_path / "own.toml"

    def plan(text):
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            make_plan(load_suite(str(path), registry), registry)
        except MfbenchError as error:
            return str(error)
        return ""

    return plan


def check(answer, seeds):
    refused = []
    for seed in seeds:
        message = answer(mutant(seed))
        assert len(message) < 5000, f"mutant {seed}"
        assert "\x1b" not in message, f"mutant {seed}"
        refused.append(bool(message))
    return refused


def test_the_suite_itself_is_planned(answer):
    assert answer(SUITE) == ""


def test_some_mutants(answer):
    refused = check(answer, range(200))
    assert 0 < sum(refused) < len(refused)


@pytest.mark.nightly(reason="thousands of mutants")
def test_many_mutants(answer):
    check(answer, range(200, 4200))
