"""Which runs can be joined: every difference that matters is one sentence, every other one a remark at most."""

import re
from pathlib import Path

import pytest
from toy_protocols import completed

from mfbench.errors import RunError
from mfbench.run.merging import RecordedRun, check_compatible, joined_metadata, remarks_on
from mfbench.run.store.metadata import Environment, PublishedHeading, RecordedFigures, RecordedSuite, Reused
from mfbench.suite.published import PublishedCount, PublishedFigure
from mfbench.suite.schema import SizeRange


@pytest.fixture
def make_run(make_metadata):
    """Return a function that makes what is recorded of a run: folder, metadata, hashes of its datasets."""

    def make(folder, datasets=(), **changes):
        return RecordedRun(Path(folder), make_metadata(**changes), {label: f"hash of {label}" for label in datasets})

    return make


def suite(name="own", seed=7, report=None, **content):
    return RecordedSuite.model_validate({"suite": {"name": name, "seed": seed}, "report": report or {}, **content})


def protocol(**changes):
    return completed(**changes)


def environment(**changes):
    values = {"mfbench": "0.1.0", "python": "3.11.2", "cpu": "a processor", "jobs": 2, "libraries": {}}
    return Environment(**{**values, **changes})


def tuned(*values, label="A"):
    return suite(methods=[{"label": label, "selector": "relief", "tune": {"n_neighbors": list(values)}}])


class TestCheck:
    def test_a_difference_is_one_sentence(self, subtests, make_run):
        for first, second, clause in [
            ({"suite": suite("uci")}, {"suite": suite("gene")}, 'suite is "uci" in the first and "gene" in the second'),
            ({"suite": suite(seed=0)}, {"suite": suite(seed=1)}, "seed is 0 in the first and 1 in the second"),
            (
                {"protocol": protocol(folds=10)},
                {"protocol": protocol(folds=5)},
                "protocol.folds is 10 in the first and 5 in the second",
            ),
            (
                {"protocol": protocol(metrics=["accuracy", "mcc"])},
                {"protocol": protocol(metrics=["mcc", "accuracy"])},
                'protocol.metrics is ["accuracy", "mcc"] in the first and ["mcc", "accuracy"] in the second',
            ),
            (
                {"protocol": protocol()},
                {"protocol": protocol(grid_values=3)},
                "protocol.grid_values is not set in the first and 3 in the second",
            ),
            (
                {"protocol_key": "repeated-cv:10:7"},
                {"protocol_key": "other"},
                'splits is "repeated-cv:10:7" in the first and "other" in the second',
            ),
            (
                {"suite": suite(report={"alpha": 0.05, "missing": "worst-rank"})},
                {"suite": suite(report={"alpha": 0.1})},
                'report.alpha is 0.05 in the first and 0.1 in the second; report.missing is "worst-rank" in the first '
                'and "drop-dataset" in the second',
            ),
            (
                {"methods": {"A": "relief → knn", "B": "knn"}},
                {"methods": {"C": "knn", "A": "relieff → knn"}},
                'method.A.steps is "relief → knn" in the first and "relieff → knn" in the second',
            ),
            ({"rules": {"A": 3}}, {"rules": {"A": 4}}, "method.A.top is 3 in the first and 4 in the second"),
            (
                {"curves": {"A": [1, 2]}},
                {"curves": {"A": SizeRange(count=8)}},
                "method.A.curve is [1, 2] in the first and {",
            ),
            (
                {"selection": {"A": "nested"}},
                {"selection": {"A": "per-dataset"}},
                'method.A.selection is "nested" in the first and "per-dataset" in the second',
            ),
            (
                {"selection": {"A": "nested"}, "suite": tuned(1, 3, 5)},
                {"selection": {"A": "nested"}, "suite": tuned(1, 4, 5)},
                "method.A.tune.n_neighbors is [1, 3, 5] in the first and [1, 4, 5] in the second",
            ),
        ]:
            message = f"x/a and x/b cannot be joined: {clause}"
            with (
                subtests.test(first=first, second=second, message=message),
                pytest.raises(RunError, match=f"^{re.escape(message)}"),
            ):
                check_compatible([make_run("x/a", **first), make_run("x/b", **second)])

    def test_many_differences_are_cut(self, make_run):
        runs = [make_run(name, methods=dict.fromkeys("ABCDE", name)) for name in "ab"]
        with pytest.raises(RunError, match=r"method\.C\.steps is \"a\" in the first and \"b\" in the second; 2 more$"):
            check_compatible(runs)

    def test_data_of_one_label(self, make_run):
        other = RecordedRun(Path("c"), make_run("c").meta, {"wine": "another hash"})
        with pytest.raises(
            RunError, match=r"^b and c cannot be joined: sha256 of.wine is \"hash of wine\" in the first"
        ):
            check_compatible([make_run("a", ["iris"]), make_run("b", ["wine"]), other])

    def test_what_does_not_change_a_result_may_differ(self, subtests, make_run):
        for first, second in [
            ({"profile": "quick"}, {"profile": "full"}),
            ({"protocol": protocol(timeout=60)}, {"protocol": protocol(memory=2)}),
            (
                {"protocol": protocol(form="sound", selection="nested", repeats=1)},
                {"protocol": protocol(form="published", selection="nested", repeats=1)},
            ),
            ({"suite": suite(report={"reference": "A"})}, {"suite": suite(report={"reference": "B"})}),
            ({"suite": tuned(1, 3, label="B")}, {"suite": tuned(1, 4, label="B")}),
            ({"rules": {"A": 3}}, {"rules": {}}),
            ({"methods": {"A": "x"}}, {"methods": {"B": "y"}}),
            ({"environment": environment()}, {"environment": environment(mfbench="9")}),
        ]:
            with subtests.test(first=first, second=second):
                check_compatible([make_run("a", ["iris"], **first), make_run("b", ["iris", "wine"], **second)])


class TestMetadata:
    def test_equal_runs_give_the_same_metadata(self, make_run):
        run = make_run("a", ["iris"], only=["i*"], suite=tuned(1, 3))
        assert joined_metadata([run, run]) == run.meta
        assert joined_metadata([run]) == run.meta

    def test_lists_and_tables_are_joined_in_the_order_of_the_runs(self, make_run):
        first = make_run(
            "a",
            methods={"B": "b", "A": "a"},
            rules={"B": 1},
            real_valued=["y"],
            takes_numbers=["B"],
            unsuited={"B": ["y"]},
        )
        second = make_run(
            "b", methods={"A": "a", "C": "c"}, rules={"C": 2}, real_valued=["x", "y"], unsuited={"B": ["x", "y"]}
        )
        meta = joined_metadata([first, second])
        assert list(meta.methods) == ["B", "A", "C"]
        assert meta.rules == {"B": 1, "C": 2}
        assert meta.real_valued == ["y", "x"] and meta.takes_numbers == ["B"]
        assert meta.unsuited == {"B": ["y", "x"]}

    def test_published_figures_are_joined_without_repetition(self, make_run):
        def figures(*methods):
            return RecordedFigures(
                tables={"t": PublishedHeading(title="T", metric="accuracy")},
                figures=[PublishedFigure("t", "iris", method, "Iris", 0.9) for method in methods],
                counts=[PublishedCount("t", method, "Z", 1, 0, 0) for method in methods],
            )

        runs = [make_run("a", published=figures("A", "B")), make_run("b", published=figures("B", "C"))]
        assert joined_metadata(runs).published == figures("A", "B", "C")

    def test_the_suites_are_joined(self, make_run):
        """The values of a grid are compared again when the joined run is joined with another one."""
        first = make_run("a", suite=tuned(1, 3), selection={"A": "nested"})
        second = make_run("b", suite=tuned(1, 5, label="B"), methods={"B": "b"}, selection={"B": "nested"})
        joined = RecordedRun(Path("ab"), joined_metadata([first, second]), {})
        third = make_run("c", suite=tuned(1, 9, label="B"), methods={"B": "b"}, selection={"B": "nested"})
        check_compatible([joined, first, second])
        with pytest.raises(RunError, match=r"^ab and c cannot be joined: method.B.tune.n_neighbors is \[1, 5\]"):
            check_compatible([joined, third])

    def test_results_of_earlier_runs_are_joined(self, make_run):
        first = Reused(keys={"base": ["1", "2"]}, differences={"base": "1 worker"}, passed_over=["Over."])
        second = Reused(keys={"base": ["2", "3"], "other": ["4"]}, passed_over=["Over."])
        meta = joined_metadata([make_run("a", reused=first), make_run("b", reused=second)])
        assert meta.reused.keys == {"base": ["1", "2", "3"], "other": ["4"]}
        assert (meta.reused.differences, meta.reused.passed_over) == (first.differences, ["Over."])

    def test_the_first_reference_holds(self, make_run):
        runs = [make_run("a"), *(make_run(name, suite=suite(report={"reference": name})) for name in "bc")]
        assert joined_metadata(runs).report.reference == "b"


class TestRestriction:
    @staticmethod
    def joined(make_run, *runs):
        """Join runs, each with its patterns, its datasets and its methods; return the patterns of the joined run."""
        recorded = [
            make_run(
                str(number),
                datasets,
                only=only,
                methods=dict.fromkeys(methods, "m"),
                command=["mfbench", "suite", "own", *(word for glob in only for word in ("--only", glob))],
            )
            for number, (only, datasets, methods) in enumerate(runs)
        ]
        meta = joined_metadata(recorded)
        assert meta.command == ["mfbench", "suite", "own", *(word for glob in meta.only for word in ("--only", glob))]
        return meta.only

    def test_equal_patterns_stay(self, make_run):
        assert self.joined(make_run, (["i*"], ["iris"], "AB"), (["i*"], ["iris"], "AC")) == ["i*"]

    def test_a_run_of_the_whole_suite_lifts_the_restriction(self, make_run):
        assert self.joined(make_run, (["iris"], ["iris"], "AB"), ([], ["iris", "wine"], "AB")) == []

    def test_labels_take_the_place_of_different_patterns(self, make_run):
        runs = [(["i*", "A"], ["iris"], "A"), (["wine*", "C"], ["wine(n=[3])"], "C")]
        assert self.joined(make_run, *runs) == ["iris", "wine(n=[[]3])", "A", "C"]

    def test_an_equal_part_stays_and_different_ones_become_labels(self, make_run):
        def run(name, part, datasets, only=()):
            words = ["mfbench", "suite", "own", "--part", part, "--seed", "3"]
            words += [word for glob in only for word in ("--only", glob)]
            parts = {"part": part, "part_patterns": [f"{part}*"], "only": list(only), "command": words}
            return make_run(name, datasets, methods={"A": "m"}, **parts)

        first, second, restricted = run("a", "i", ["iris"]), run("b", "w", ["wine"]), run("c", "i", ["iris"], ["iris"])
        same = joined_metadata([first, first])
        assert (same.part, same.part_patterns, same.command) == ("i", ["i*"], first.meta.command)
        joined = joined_metadata([first, second])
        assert (joined.part, joined.part_patterns, joined.only) == ("", [], ["iris", "wine", "A"])
        only = ["--only", "iris", "--only", "wine", "--only", "A"]
        assert joined.command == ["mfbench", "suite", "own", "--seed", "3", *only]
        assert joined_metadata([first, restricted]).only == ["iris", "A"]

    def test_the_labels_cover_what_any_run_has(self, make_run):
        runs = (["iris"], ["iris"], "AB"), (["A"], ["iris", "wine"], "A")
        assert self.joined(make_run, *runs) == ["iris", "wine", "A", "B"]


class TestRemarks:
    def test_equal_runs_need_none(self, make_run):
        assert remarks_on([make_run("a"), make_run("b")]) == []

    def test_versions(self, make_run):
        first = environment(
            libraries={"numpy": "1.26", "scipy": "1.11", "numba": None},
            plugins=["mfbench 0.1.0 (mfbench_margin.plugin)", "own 1.0 (own.plugin)", "local"],
            git_commit="a" * 40,
        )
        second = environment(
            mfbench="0.2.0",
            libraries={"numpy": "2.0", "scipy": "1.11", "numba": "0.6"},
            plugins=["mfbench 0.2.0 (mfbench_margin.plugin)", "own 1.1 (own.plugin)", "other 3 (other)"],
            git_commit="b" * 40,
        )
        third = environment(mfbench="0.1.0", python="3.12.1")
        runs = [make_run(name, environment=each) for name, each in zip("abc", (first, second, third), strict=True)]
        assert remarks_on(runs) == [
            "The joined runs differ in mfbench (0.1.0 and 0.2.0), Python (3.11.2 and 3.12.1), commit (aaaaaaa and "
            "bbbbbbb), numpy (1.26 and 2.0) and own (1.0 and 1.1); their times and memory may not compare."
        ]

    def test_machines_and_workers(self, make_run):
        first = environment(cpus=4, system="Linux-6.1")
        second = environment(cpus=8, system="Linux-6.1", jobs=8)
        runs = [make_run("a", environment=first), make_run("b", environment=second)]
        assert remarks_on(runs) == [
            "The joined runs differ in machine (a processor × 4 (Linux-6.1) and a processor × 8 (Linux-6.1)) and "
            "workers (2 and 8); their times and memory may not compare."
        ]

    def test_limits_and_references(self, make_run):
        runs = [
            make_run("a", protocol=protocol(timeout=60), suite=suite(report={"reference": "A"})),
            make_run("b", protocol=protocol(timeout=600, memory=1.5), suite=suite(report={"reference": "B"})),
            make_run("c"),
        ]
        assert remarks_on(runs) == [
            "The joined runs differ in timeout (60 and 600) and memory (0 and 1.5); a trial that failed in one may "
            "succeed in another.",
            "The joined runs differ in reference (A and B); the first one is used unless another is chosen.",
        ]
