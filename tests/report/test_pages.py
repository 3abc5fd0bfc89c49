"""The page of a run: the same bytes whenever it is made; a group has the verdicts of a run of its datasets."""

import base64
import gzip
import hashlib
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from toy_protocols import completed, recorded

from mfbench import ClassifierSpec, DatasetSpec, SelectorSpec, hookimpl
from mfbench.host.registry import load_registry
from mfbench.model.sections import Cell, Section, Table
from mfbench.report.contents import answer_of
from mfbench.report.pages import groups_of, page_of
from mfbench.report.sections.scores import score_table

DATASETS = ("two(seed=1)", "wine", "two(seed=2)", "glass", "sonar")
FACTS = {"truths": {dataset: [0, 1, 0, 1] for dataset in DATASETS}, "report": {"reference": "B"}}


def scores(datasets):
    """Scores that are the same whichever other datasets a run has."""
    return {
        (dataset, method): list(
            np.random.default_rng([DATASETS.index(dataset), k]).normal(
                0.9 - 0.02 * k * DATASETS.index(dataset), 0.01, 5
            )
        )
        for dataset in datasets
        for k, method in enumerate("ABC")
    }


@pytest.fixture
def registry(make_plugin):
    plugin = make_plugin(
        "toy",
        selectors=[
            SelectorSpec(name="weigh", summary="", factory=object, tags=("filter", "fast")),
            SelectorSpec(name="trees", summary="", factory=object, tags=("embedded",)),
        ],
        classifiers=[
            ClassifierSpec(name="nearest", summary="", factory=object, tags=("lazy",)),
            ClassifierSpec(name="trees", summary="", factory=object, tags=("ensemble",)),
        ],
        datasets=[
            DatasetSpec(name="two", summary="", loader=object),
            DatasetSpec(name="wine", summary="", source="uci:109"),
        ],
    )
    return load_registry(only=[], extra=[("toy", plugin)])


COLLECTIONS = {
    "pair": ["wine", "sonar"],
    "single": ["wine"],
    "everything": list(DATASETS),
    "other": ["two(seed=1)", "glass", "wine", "not in the run"],
}


class TestGroups:
    @pytest.fixture
    def run(self, write_run):
        return write_run(scores(DATASETS), collections=COLLECTIONS, **FACTS)

    def test_collections_of_one_and_of_all_datasets_are_no_groups(self, run):
        first, *others = [group.title for group in groups_of(run)]
        assert first == "all 5 datasets"
        assert set(others) == {"the collection pair (2)", "the collection other (3)"}

    def test_datasets_that_need_no_network_are_a_group(self, run, registry):
        assert groups_of(run, registry)[-1].title == "the embedded datasets (2)"

    def test_the_totals_of_a_group_are_those_of_a_run_of_the_group(self, run, registry, write_run):
        members = {
            "all 5 datasets": DATASETS,
            "the collection pair (2)": ("wine", "sonar"),
            "the collection other (3)": ("two(seed=1)", "wine", "glass"),
            "the embedded datasets (2)": ("two(seed=1)", "two(seed=2)"),
        }
        groups = groups_of(run, registry)
        assert len(groups) == len(members)
        for group in groups:
            datasets = members[group.title]
            alone = write_run(scores(datasets), **FACTS)
            table = score_table(alone)
            expected = [[cell.text for cell in row] for row in table.rows[len(datasets) :]]
            assert group.rows == expected
            assert group.rows[-1][0] == "average rank"
            assert group.answer == answer_of(alone)
        assert len({json.dumps(group.rows) for group in groups}) == len(groups)

    def test_a_reference_that_was_chosen_holds_in_every_group(self, run):
        for group in groups_of(run.replace(reference="C")):
            assert group.rows[0][1:][2] == "–"

    def test_a_method_that_failed_outside_a_group_is_ranked_in_it(self, write_run, failure):
        cells = scores(DATASETS) | {("glass", "A"): [failure()] * 5}
        run = write_run(cells, collections={"pair": ["wine", "sonar"]}, **FACTS)
        pair = groups_of(run)[1]
        assert pair.rows == groups_of(write_run(scores(("wine", "sonar")), **FACTS))[0].rows


class TestRestricted:
    def test_a_part_has_the_figures_of_a_run_of_these_datasets(self, write_run):
        run = write_run(scores(DATASETS), **FACTS)
        run.summary()  # what is known of the whole must not appear in the part
        run.overall()
        part, alone = run.restricted(["wine", "glass"]), write_run(scores(("wine", "glass")), **FACTS)
        assert part.scores.equals(alone.scores)
        assert part.summary().equals(alone.summary())
        assert part.wins_ties_losses().equals(alone.wins_ties_losses())
        assert part.overall().pairs.equals(alone.overall().pairs)
        assert len(run.scores) == 15
        assert run.summary()["method"].tolist() == write_run(scores(DATASETS), **FACTS).summary()["method"].tolist()


class TestPage:
    @pytest.fixture
    def run(self, write_run, failure):
        cells = scores(DATASETS[:3]) | {("wine", "C"): [failure()] * 5}
        return write_run(
            cells, collections={"pair": ["two(seed=1)", "wine"]}, left_out=[("gone", "no network")], **FACTS
        )

    def test_two_pages_of_a_run_are_equal_in_every_process(self, run):
        code = (
            "import hashlib, pathlib, sys\n"
            "from mfbench.stats.results import Run\n"
            "from mfbench.host.registry import load_registry\n"
            "from mfbench.report.pages import page_of\n"
            "page = page_of(Run(pathlib.Path(sys.argv[1])), load_registry(only=[]))\n"
            "print(hashlib.sha256(page.encode()).hexdigest())\n"
        )
        registry = load_registry(only=[])
        found = [hashlib.sha256(page_of(run, registry).encode()).hexdigest() for _ in range(2)]
        seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
        command, environment = [sys.executable, "-c", code, str(run.path)], {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert [*found, done.stdout.strip()] == found[:1] * 3

    def test_the_head_states_the_answer_and_what_is_missing(self, run):
        page = page_of(run)
        head = page[: page.index("<main")]
        for sentence in answer_of(run):
            assert f">{sentence.replace(chr(39), '&#39;')}</p>" in head
        assert "2 remarks" in head
        assert "<li>Left out: gone: no network</li>" in head
        assert "<li>Failed: C: 5 trials on wine; error: no way</li>" in head
        assert "<code>mfbench suite own --profile quick &amp;&amp; mfbench report own --open</code>" in head
        assert "<code>mfbench report own --html</code>" in page_of(run, command="mfbench report own --html")

    def test_a_run_in_which_everything_failed_has_a_page(self, write_run, failure):
        page = page_of(write_run({(d, m): [failure()] * 5 for d in "de" for m in "AB"}))
        assert "No dataset has a score of every method, so none is ahead." in page

    @pytest.mark.parametrize("kind", ["timing", "empty", "calibration"])
    def test_other_kinds_of_run_have_no_answer(self, write_run, kind):
        if kind == "calibration":
            run = write_run(
                {(f"two(seed={i})", m): 0.5 for i in range(3) for m in "AB"}, report={"equal": [["A", "B"]]}
            )
            right = np.random.default_rng(0).random((5, 20)) < 0.7
            run.decisions = lambda dataset, method: list(right)
        else:
            run = write_run({} if kind == "empty" else {("d", "A"): [None] * 3}, folds=3)
        if kind == "timing":
            protocol = completed(kind="timing", repeats=1, steps=2)
            run.meta = run.meta.model_copy(update=recorded(protocol))
        page = page_of(run, load_registry(only=[]))
        assert answer_of(run) == []
        assert 'class="answer"' not in page[: page.index("<main")]
        data = gzip.decompress(base64.b64decode(re.search(r'id="data">(.*?)</script>', page)[1]))
        assert b'"scores"' not in data


def test_problems_are_those_of_the_short_report(write_run):
    page = page_of(write_run({("d", "A"): 0.5}, left_out=[("gone", "no network")]))
    assert "Left out: gone: no network" in page.partition("<h2")[0]


def test_a_table_of_a_plugin_is_not_taken_for_that_of_the_scores(write_run, make_plugin):
    def sections(run):
        return [Section("Own", [Table(["a"], [[Cell("x")]])], data={"wins_ties_losses": dict})]

    plugin = make_plugin("own")
    plugin.mfbench_report_sections = hookimpl(sections)
    page = page_of(write_run({}), load_registry(only=[], extra=[("own", plugin)]))
    assert '<th scope="row">x</th>' in page
    assert 'id="scores"' not in page
