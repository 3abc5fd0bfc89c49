"""Joining runs: the union of their stores, bit for bit, or one sentence on what keeps them from being joined."""

import itertools
import re
import sqlite3
import tracemalloc
import zlib
from pathlib import Path

import numpy as np
import pytest
from tampering import changed
from toy_protocols import completed

from mfbench.errors import NeverStartedError, RunError, UsageError
from mfbench.model.trials import Candidate, Curve, Status, Trial, TrialResult, Unavailable
from mfbench.report.heading import Form, regeneration_commands
from mfbench.run import merging
from mfbench.run.merging import merge_runs
from mfbench.run.store.file import FILE_NAME
from mfbench.run.store.formats import pack
from mfbench.run.store.metadata import Environment
from mfbench.run.store.store import Store
from mfbench.stats.results import Run
from mfbench.suite.protocols import Split

FOLDS = 2
TABLES = ("meta", "datasets", "left_out", "splits", "plan", "trials")


def measured(score, **changes):
    values = {"fit_wall": 0.25, "peak_memory": 2_000_000, "n_selected": 1, "predictions": np.array([0, 1])}
    return TrialResult(key="", scores={"accuracy": score, "log_loss": float("nan")}, **{**values, **changes})


def failed(status=Status.ERROR, message="no way"):
    return TrialResult(key="", status=status, error_type="ValueError", error_message=message)


def record(label, **changes):
    values = {
        "label": label,
        "sha256": f"hash of {label}",
        "n_samples": 4,
        "n_features": 2,
        "class_names": ["no", "yes"],
        "feature_names": ["u", "v"],
        "relevant": None,
        "interactions": None,
        "collections": {},
        "source": "nowhere",
        "truth": np.array([0, 1, 0, 1]),
    }
    return {**values, **changes}


HALVES = [Split(np.array([2, 3]), np.array([0, 1])), Split(np.array([0, 1]), np.array([2, 3]))]


@pytest.fixture
def write(tmp_path, make_metadata, monkeypatch):
    """Return a function that writes a run and returns its folder, relative to the working directory.

    `cells` maps (dataset, method) to a score, or to a score, a result or None (not run) for each fold. `version` is
    that of the code, a part of the keys.
    """
    monkeypatch.chdir(tmp_path)

    def write(name, cells, *, version=1, left_out=(), datasets=None, splits=HALVES, repeats=1, **changes):
        datasets = datasets or {label: record(label) for label, _ in cells}
        changes = {"methods": {method: f"{method.lower()} → knn" for _, method in cells}, **changes}
        changes.setdefault(
            "protocol",
            completed(folds=FOLDS, repeats=repeats, metrics=["accuracy", "log_loss"]),
        )
        metadata = make_metadata(**changes)
        with Store(Path(name)) as store:
            store.begin(metadata, datasets.values(), left_out)
            plan = []
            for label, fold in itertools.product(datasets, range(FOLDS)):
                for method in (method for dataset, method in cells if dataset == label):
                    scores = cells[label, method]
                    result = scores[fold] if isinstance(scores, list) else scores
                    trial = Trial(f"{label}/{method}/{fold}/{version}", label, method, 0, fold, 7)
                    plan.append(trial)
                    if result is not None:
                        result = result if isinstance(result, TrialResult) else measured(result)
                        result.key = trial.key
                        store.add(trial, result)
            store.set_plan(plan)
            for label, entry in datasets.items():
                store.add_splits(entry["sha256"], f"{metadata.protocol_key}:{label}", 0, splits, (4, 2))
        return Path(name)

    return write


def content(folder):
    """Return everything that a store holds, as it is stored, except for the folder in which it is."""
    with sqlite3.connect(folder / FILE_NAME) as db:
        tables = {table: sorted(db.execute(f"SELECT * FROM {table}"), key=repr) for table in TABLES}
    tables["meta"] = [row for row in tables["meta"] if row[0] != "out"]
    return tables


def unordered(folder):
    """Return the content of a store without the order of its datasets and methods."""
    tables = content(folder)
    tables["plan"] = sorted(row[1:] for row in tables["plan"])
    tables["meta"] = Store(folder, read_only=True).meta().model_copy(update={"out": ""})
    return tables


def planned(folder):
    with Store(folder, read_only=True) as store:
        return [(row["dataset"], row["method"], row["fold"], row["status"]) for row in store.rows(("status",))]


class TestUnion:
    def test_runs_of_other_datasets(self, write):
        write("a", {("wine", "A"): 0.5, ("wine", "B"): 0.6})
        write("b", {("iris", "A"): [0.7, None], ("iris", "B"): [0.8, failed()]})
        assert merge_runs([Path("a"), Path("b")], Path("joined")) == []
        assert planned(Path("joined")) == [
            *[("wine", method, fold, "ok") for fold in (0, 1) for method in "AB"],
            ("iris", "A", 0, "ok"),
            ("iris", "B", 0, "ok"),
            ("iris", "A", 1, None),
            ("iris", "B", 1, "error"),
        ]

    def test_runs_of_other_methods(self, write):
        write("a", {("iris", "B"): 0.5, ("wine", "B"): 0.6}, rules={"B": "all"}, takes_numbers=["B"])
        write("b", {("iris", "A"): 0.7, ("wine", "A"): 0.8}, rules={"A": 3}, selection={"A": "nested"})
        assert merge_runs([Path("a"), Path("b")], Path("joined")) == []
        assert [row[:3] for row in planned(Path("joined"))] == [
            (dataset, method, fold) for dataset in ("iris", "wine") for fold in (0, 1) for method in "BA"
        ]
        meta = Store(Path("joined"), read_only=True).meta()
        assert list(meta.methods.items()) == [("B", "b → knn"), ("A", "a → knn")]
        assert (meta.rules, meta.takes_numbers, meta.selection) == ({"B": "all", "A": 3}, ["B"], {"A": "nested"})

    def test_every_column_is_copied_bit_for_bit(self, write):
        rare = {
            "touched": "its surroundings",
            "weights": np.array([-0.0, np.nan, 5e-324]),
            "decisions": np.array([[0, 1], [1, 0]]),
            "duration": 0.1 + 0.2,
            "peak_memory": 2**53 + 1,
            "chosen": {"k": 3},
        }
        write("a", {("iris", "A"): measured(0.1 + 0.2, **rare)})
        write("b", {("wine", "A"): measured(1 / 3, **rare)}, left_out=[("gone", "why", Unavailable(True, "no answer"))])
        merge_runs([Path("a"), Path("b")], Path("joined"))
        parts, whole = [content(Path(name)) for name in "ab"], content(Path("joined"))
        for table in ("datasets", "left_out", "splits", "trials"):
            assert whole[table] == sorted(parts[0][table] + parts[1][table], key=repr)

    def test_one_run_is_copied(self, write):
        folder = write("a", {("iris", "A"): [0.5, failed()]}, left_out=[("gone", "no network", None)])
        merge_runs([folder], Path("joined"))
        assert content(Path("joined")) == content(folder)

    def test_a_cell_that_no_run_planned_is_reported(self, write):
        write("a", {("iris", "A"): 0.5, ("iris", "B"): 0.6})
        write("b", {("wine", "C"): 0.7})
        assert merge_runs([Path("a"), Path("b")], Path("joined")) == ["No run has 3 cells of 2 datasets × 3 methods."]
        run = Run(Path("joined"))
        assert set(zip(run.scores["dataset"], run.scores["method"], strict=True)) == {
            ("iris", "A"), ("iris", "B"), ("wine", "C"),
        }  # fmt: skip

    def test_what_one_run_has_is_not_left_out(self, write):
        lost = [("wine", "no network", Unavailable(True, "")), ("B", "no package", None), ("gone", "first", None)]
        write("a", {("iris", "A"): 0.5}, left_out=lost)
        write("b", {("wine", "A"): 0.5, ("wine", "B"): 0.5}, left_out=[("gone", "second", None)])
        merge_runs([Path("a"), Path("b")], Path("joined"))
        assert Store(Path("joined"), read_only=True).left_out() == {"gone": "first"}

    def test_of_a_run_without_trials_only_what_it_left_out_is_joined(self, write):
        write("empty", {}, methods={"C": "c → knn"}, left_out=[("gone", "why", None)], only=["gone"])
        folder = write("a", {("iris", "A"): 0.5})
        merge_runs([Path("empty"), folder], Path("joined"))
        with Store(Path("joined"), read_only=True) as store:
            assert list(store.meta().methods) == ["A"] and store.left_out() == {"gone": "why"}
        merge_runs([Path("empty"), Path("empty")], Path("twice"))
        assert content(Path("twice")) == content(Path("empty"))

    def test_results_of_earlier_plans_are_kept(self, write):
        write("a", {("iris", "A"): 0.5}, version=1)
        write("a", {("iris", "A"): 0.6}, version=2)
        write("b", {("wine", "A"): 0.7})
        merge_runs([Path("a"), Path("b")], Path("joined"))
        with Store(Path("joined"), read_only=True) as store:
            assert len(store.finished()) == 6
            assert [row["key"] for row in store.rows(())][:2] == ["iris/A/0/2", "iris/A/1/2"]

    def test_a_run_whose_parameters_are_tuned_per_dataset(self, write):
        def tuned(*scores):
            points = [Candidate(chosen={"k": k}, scores={"accuracy": score}) for k, score in enumerate(scores)]
            return TrialResult(key="", candidates=points)

        # Only both folds together show that the second point is the best.
        write("a", {("iris", "A"): [tuned(0.9, 0.8), None]}, selection={"A": "per-dataset"})
        write("b", {("iris", "A"): [None, tuned(0.1, 0.8)]}, selection={"A": "per-dataset"})
        merge_runs([Path("a"), Path("b")], Path("joined"))
        run = Run(Path("joined"))
        assert run.outcomes["accuracy"].tolist() == [0.8, 0.8]
        assert [chosen for _, chosen in run.chosen_parameters] == [{"k": 1}, {"k": 1}]

    def test_rows_are_copied_one_by_one(self, write):
        large = measured(0.5, weights=np.random.default_rng(0).normal(size=100_000))
        cells = {(f"{name}{number}", "A"): large for name in "ab" for number in range(6)}
        for name in "ab":
            write(name, {cell: result for cell, result in cells.items() if cell[0][0] == name})
        tracemalloc.start()
        try:
            merge_runs([Path("a"), Path("b")], Path("joined"))
            assert tracemalloc.get_traced_memory()[1] < 6 * len(pack(large.weights))  # there are 24
        finally:
            tracemalloc.stop()


class TestAlgebra:
    def test_a_run_joined_with_itself_is_the_run(self, write):
        folder = write("a", {("wine", "B"): 0.5, ("wine", "A"): [0.6, failed()], ("iris", "B"): [None, 0.7]})
        assert merge_runs([folder, folder], Path("joined")) == ["No run has 1 cell of 2 datasets × 2 methods."]
        assert content(Path("joined")) == content(folder)

    def test_joining_a_part_again_changes_nothing(self, write):
        write("a", {("wine", "B"): 0.5, ("iris", "A"): 0.6}, only=["B", "wine"])
        write("b", {("iris", "A"): [0.6, 0.6], ("iris", "C"): [0.7, failed()]}, only=["iris"])
        merge_runs([Path("a"), Path("b")], Path("once"))
        merge_runs([Path("once"), Path("b")], Path("twice"))
        merge_runs([Path("a"), Path("once"), Path("b")], Path("thrice"))
        assert content(Path("once")) == content(Path("twice")) == content(Path("thrice"))

    def test_the_order_of_runs_decides_the_order_of_datasets_and_methods_alone(self, write):
        write("a", {("wine", "B"): 0.5, ("iris", "A"): [0.6, failed()]})
        write("b", {("iris", "A"): [None, 0.6], ("iris", "C"): [0.7, 0.9]})
        write("c", {("glass", "D"): 0.5, ("wine", "B"): [0.5, None]}, left_out=[("iris", "why", None)])
        names = "abc"
        for order in itertools.permutations(names):
            merge_runs([Path(name) for name in order], Path("".join(order)))
        reference = unordered(Path("abc"))
        for order in itertools.permutations(names):
            assert unordered(Path("".join(order))) == reference


class TestSameTrials:
    def test_equal_results_are_stored_once_and_the_first_one_stays(self, write):
        write("a", {("iris", "A"): measured(0.5, fit_wall=1.0)})
        write("b", {("iris", "A"): measured(0.5, fit_wall=2.0), ("iris", "B"): 0.6})
        merge_runs([Path("a"), Path("b")], Path("joined"))
        assert Run(Path("joined")).outcomes["fit_wall"].tolist() == [1.0, 0.25, 1.0, 0.25]

    @pytest.mark.parametrize("order", ["ab", "ba"])
    def test_a_success_wins_over_a_failure_and_over_no_result(self, write, order):
        write("a", {("iris", "A"): [failed(), 0.6]})
        write("b", {("iris", "A"): [0.5, None]})
        merge_runs([Path(name) for name in order], Path("joined"))
        assert Run(Path("joined")).outcomes["accuracy"].tolist() == [0.5, 0.6]

    def test_of_two_failures_the_first_stays(self, write):
        write("a", {("iris", "A"): failed(Status.TIMEOUT, "late")})
        write("b", {("iris", "A"): failed(Status.ERROR, "wrong")})
        merge_runs([Path("a"), Path("b")], Path("joined"))
        assert set(Run(Path("joined")).outcomes["status"]) == {"timeout"}

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            (measured(0.5), measured(np.nextafter(0.5, 1))),
            (measured(0.5), measured(0.5, predictions=np.array([1, 0]))),
            (measured(0.5), measured(0.5, predictions=None)),
            (measured(0.5, decisions=np.eye(2, dtype=int)), measured(0.5, decisions=np.ones((2, 2), int))),
        ],
    )
    def test_two_successes_that_disagree_cannot_be_joined(self, write, first, second):
        write("a", {("iris", "A"): [0.5, first]})
        write("b", {("iris", "A"): [0.5, second]})
        message = (
            "a and b have different results of A on iris in repeat 0, fold 1, although the trial is the same; "
            "repeat one of the runs with --fresh to see which result is right"
        )
        with pytest.raises(RunError, match=f"^{re.escape(message)}$"):
            merge_runs([Path("a"), Path("b")], Path("joined"))

    def test_curves_are_compared_by_their_scores_and_not_by_their_seconds(self, write):
        def curved(score, seconds):
            sizes, scores = np.array([1, 2]), np.array([[score, 0.5]])
            return measured(0.5, curve=Curve(sizes, ("accuracy",), scores, np.array([seconds, 1.0])))

        for name, score, seconds in (("a", 0.25, 1.0), ("b", 0.25, 2.0), ("c", 0.375, 1.0)):
            write(name, {("iris", "A"): curved(score, seconds)})
        merge_runs([Path("a"), Path("b")], Path("joined"))
        assert Run(Path("joined")).curves["score"].tolist() == 2 * [0.25, 0.5]  # two folds
        with pytest.raises(RunError, match="a and c have different results of A on iris in repeat 0, fold 0"):
            merge_runs([Path("a"), Path("c")], Path("other"))

    def test_the_points_of_a_grid_are_compared_by_their_results(self, write):
        def tuned(score, seconds):
            return TrialResult(
                key="", candidates=[Candidate(chosen={"k": 1}, scores={"accuracy": score}, fit_wall=seconds)]
            )

        for name, score, seconds in (("a", 0.5, 1.0), ("b", 0.5, 2.0), ("c", 0.6, 1.0)):
            write(name, {("iris", "A"): tuned(score, seconds)}, selection={"A": "per-dataset"})
        merge_runs([Path("a"), Path("b")], Path("joined"))
        with pytest.raises(RunError, match="a and c have different results of A on iris in repeat 0, fold 0"):
            merge_runs([Path("a"), Path("c")], Path("no"))

    def test_the_form_of_stored_arrays_and_scores_does_not_matter(self, write):
        """Another build of zlib compresses the same array to other bytes."""
        rows = np.arange(200) % 2
        for name in "ab":
            write(name, {("iris", "A"): measured(0.5, predictions=rows)})
        blob = pack(rows)
        other = blob[:3] + zlib.compress(zlib.decompress(blob[3:]), 9)
        assert other != blob
        with changed(Path("b")) as db:
            db.execute("UPDATE trials SET predictions = ?", (other,))
            db.execute("""UPDATE trials SET scores = '{"log_loss": NaN, "accuracy": 0.5}'""")
        merge_runs([Path("a"), Path("b")], Path("joined"))
        assert content(Path("joined"))["trials"] == content(Path("a"))["trials"]

    def test_results_of_other_code_cannot_be_joined(self, write):
        write("a", {("iris", "A"): [None, 0.5]}, version=1)
        write("b", {("iris", "A"): [0.5, failed()]}, version=2)
        message = (
            "a and b measured A on iris in repeat 0, fold 1 with different versions of code or libraries, so their "
            "keys differ; repeat the command of the older run"
        )
        with pytest.raises(RunError, match=f"^{re.escape(message)}$"):
            merge_runs([Path("a"), Path("b")], Path("joined"))

    @pytest.mark.parametrize("order", ["abc", "cba"])
    def test_a_trial_without_a_result_gives_way_to_one_of_other_code(self, write, order):
        write("a", {("iris", "A"): [None, None]}, version=1)
        write("b", {("iris", "A"): [0.5, None]}, version=2)
        write("c", {("iris", "A"): [None, 0.6]}, version=3)
        merge_runs([Path(name) for name in order], Path("joined"))
        outcomes = Run(Path("joined")).outcomes
        assert outcomes["accuracy"].tolist() == [0.5, 0.6]
        assert outcomes["key"].tolist() == ["iris/A/0/2", "iris/A/1/3"]

    def test_a_result_that_its_run_no_longer_plans_is_no_obstacle(self, write):
        write("a", {("iris", "A"): 0.5}, version=1)
        write("a", {("iris", "A"): 0.6}, version=2)
        write("b", {("iris", "A"): None, ("wine", "A"): 0.7}, version=1)
        for order in ("ab", "ba"):
            merge_runs([Path(name) for name in order], Path(order))
            outcomes = Run(Path(order)).outcomes.set_index("dataset")["accuracy"]
            assert outcomes.to_dict() == {"iris": 0.6, "wine": 0.7}


class TestIncompatibleRuns:
    def test_data_that_differ(self, write):
        write("a", {("iris", "A"): 0.5})
        write("b", {("iris", "B"): 0.5}, datasets={"iris": record("iris", sha256="other")})
        with pytest.raises(RunError, match=r"^a and b cannot be joined: sha256 of.iris is "):
            merge_runs([Path("a"), Path("b")], Path("joined"))

    def test_a_protocol_that_differs(self, write):
        write("a", {("iris", "A"): 0.5})
        write("b", {("wine", "A"): 0.5}, repeats=3)
        with pytest.raises(
            RunError, match=r"^a and b cannot be joined: protocol.repeats is 1 in the first and 3 in the second$"
        ):
            merge_runs([Path("a"), Path("b")], Path("joined"))

    def test_rows_that_are_split_differently(self, write):
        write("a", {("iris", "A"): 0.5})
        write("b", {("iris", "B"): 0.5}, splits=[HALVES[0], Split(np.array([0, 2]), np.array([1, 3]))])
        with pytest.raises(
            RunError, match=r"^a and b cannot be joined: they split the rows of iris differently in repeat 0, fold 1$"
        ):
            merge_runs([Path("a"), Path("b")], Path("joined"))

    def test_the_run_that_differs_is_named(self, write):
        for name in "abc":
            write(name, {("wine" if name == "a" else "iris", "A"): 0.5}, methods={"A": "knn"})
        write("d", {("iris", "A"): 0.5}, datasets={"iris": record("iris", sha256="other")}, methods={"A": "knn"})
        with pytest.raises(RunError, match=r"^b and d cannot be joined"):
            merge_runs([Path(name) for name in "abcd"], Path("joined"))


class TestTarget:
    def test_other_versions_come_back_as_a_remark(self, write):
        write("a", {("iris", "A"): 0.5})
        later = Environment(mfbench="0.2.0", python="3.11.2", cpu="a processor", jobs=2, libraries={})
        write("b", {("wine", "A"): 0.5}, environment=later)
        assert merge_runs([Path("a"), Path("b")], Path("joined")) == [
            "The joined runs differ in mfbench (0.1.0 and 0.2.0); their times and memory may not compare."
        ]
        assert Store(Path("joined"), read_only=True).meta().environment.mfbench == "0.1.0"

    def test_the_store_can_be_continued(self, write):
        folder = write("a", {("iris", "A"): [0.5, None]})
        merge_runs([folder], Path("joined"))
        with Store(Path("joined")) as store:
            store.add(Trial("iris/A/1/1", "iris", "A", 0, 1, 7), TrialResult(key="iris/A/1/1"))
        assert Run(Path("joined")).n_pending == 0

    def test_an_existing_folder_without_a_run_is_filled_and_nothing_else_is_written(self, write):
        folder = write("a", {("iris", "A"): 0.5})
        Path("joined").mkdir()
        (Path("joined") / "notes.md").write_text("mine")
        merge_runs([folder], Path("joined"))
        assert sorted(path.name for path in Path("joined").iterdir()) == ["notes.md", FILE_NAME]
        merge_runs([folder], Path("new/deep/joined"))
        assert [path.as_posix() for path in Path("new").rglob("*")] == [
            "new/deep", "new/deep/joined", f"new/deep/joined/{FILE_NAME}",
        ]  # fmt: skip

    def test_a_run_joined_into_itself_stays_as_it_is(self, write):
        folder = write("a", {("iris", "A"): [0.5, failed()], ("wine", "A"): [None, 0.5]})
        before = content(folder)
        for sources in ([folder], [folder, folder], [Path("a/../a")]):
            assert merge_runs(sources, folder) == []
            assert content(folder) == before

    def test_a_run_gets_the_results_that_it_lacks_and_keeps_its_own(self, write):
        write("a", {("iris", "A"): [measured(0.5, fit_wall=9.0), failed()], ("iris", "B"): [None, 0.7]})
        write("b", {("iris", "A"): [0.5, 0.6], ("iris", "B"): [failed(), None], ("wine", "A"): 0.8})
        write("old", {("iris", "A"): 0.1}, version=7)
        merge_runs([Path("a"), Path("b")], Path("new"))
        merge_runs([Path("b")], Path("a"))
        assert content(Path("a")) == content(Path("new"))
        assert Run(Path("a")).outcomes.query("dataset == 'iris' and method == 'A'")["fit_wall"].tolist() == [9.0, 0.25]
        again = content(Path("a"))
        merge_runs([Path("b")], Path("a"))
        assert content(Path("a")) == again

    def test_a_run_stays_as_it_is_if_the_others_cannot_be_joined_with_it(self, write):
        folder = write("a", {("iris", "A"): 0.5})
        write("b", {("iris", "A"): 0.6})
        before = content(folder)
        with pytest.raises(RunError, match=r"^a and b have different results of A on iris"):
            merge_runs([Path("b")], folder)
        assert content(folder) == before

    def test_a_run_that_never_started_is_a_remark(self, write):
        folder = write("a", {("iris", "A"): 0.5})
        Store(Path("started")).close()
        remark = "started holds a run that never started completely, so it has no results."
        assert merge_runs([Path("started"), folder], Path("joined")) == [remark]
        assert content(Path("joined")) == content(folder)
        assert merge_runs([folder], Path("started")) == [remark]
        assert content(Path("started")) == content(folder)
        Store(Path("other")).close()
        with pytest.raises(RunError, match=r"^other holds a run that never started completely; repeat its command$"):
            merge_runs([Path("other")], Path("nothing"))

    def test_sources_that_all_never_started_are_refused_into_a_run_as_into_a_new_folder(self, write):
        folder = write("a", {("iris", "A"): 0.5})
        Store(Path("started")).close()
        Path("empty").mkdir()
        (Path("empty") / FILE_NAME).touch()
        for target in (folder, Path("new")):
            with pytest.raises(NeverStartedError, match=r"^started holds a run that never started completely"):
                merge_runs([Path("started"), Path("empty")], target)

    def test_a_run_merged_elsewhere_names_no_command_that_would_look_for_it_there(self, write):
        folder = write("a", {("iris", "A"): 0.5})
        merge_runs([folder], Path("my joined"))
        assert regeneration_commands(Run(Path("my joined")), Form("md")) == ["mfbench report 'my joined' --md"]
        assert regeneration_commands(Run(folder), Form("md"))[0].startswith("mfbench suite own ")

    def test_the_log_of_a_deleted_store_does_not_meet_the_new_one(self, write):
        folder = write("a", {("iris", "A"): 0.5})
        write("target", {("iris", "A"): 0.9}, version=3)
        reader = sqlite3.connect(Path("target") / FILE_NAME)
        reader.execute("SELECT * FROM meta").fetchall()
        with Store(Path("target")) as store:
            store.record("ended_budget", 1.0)
            (Path("target") / FILE_NAME).unlink()
        assert (Path("target") / f"{FILE_NAME}-wal").exists()
        merge_runs([folder], Path("target"))
        reader.close()
        assert content(Path("target")) == content(folder)

    def test_no_run_at_all(self, tmp_path):
        with pytest.raises(UsageError, match="name at least one run"):
            merge_runs([], tmp_path / "joined")

    def test_a_missing_and_a_damaged_source(self, write, tmp_path):
        folder = write("a", {("iris", "A"): 0.5})
        with pytest.raises(RunError, match=r"^b holds no run"):
            merge_runs([folder, Path("b")], Path("joined"))
        write("b", {("wine", "A"): 0.5})
        (Path("b") / FILE_NAME).write_bytes(b"x" * 5000)
        with pytest.raises(RunError, match=r"^b/results.sqlite is damaged"):
            merge_runs([folder, Path("b")], Path("joined"))
        assert not Path("joined").exists()

    def test_a_source_that_is_damaged_further_down_is_named(self, write):
        folder = write("a", {("iris", "A"): 0.5})
        write("b", {("wine", "A"): measured(0.5, weights=np.random.default_rng(0).normal(size=40_000))})
        path = Path("b") / FILE_NAME
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(RunError, match=r"^b/results.sqlite is damaged"):
            merge_runs([folder, Path("b")], Path("new/joined"))
        assert sorted(path.name for path in Path().iterdir()) == ["a", "b"]

    @pytest.mark.parametrize("error", [RuntimeError("stop"), KeyboardInterrupt()])
    def test_nothing_is_left_behind_after_a_failure(self, write, monkeypatch, error):
        folder = write("a", {("iris", "A"): 0.5})
        before = sorted(Path().rglob("*"))
        insert = merging.insert

        def fail_late(db, table, rows):
            if table == "splits":
                raise error
            insert(db, table, rows)

        monkeypatch.setattr(merging, "insert", fail_late)
        with pytest.raises(type(error)):
            merge_runs([folder], Path("new/deep/joined"))
        assert sorted(Path().rglob("*")) == before

    def test_a_folder_that_cannot_be_written_to(self, write):
        folder = write("a", {("iris", "A"): 0.5})
        Path("file").write_text("")
        with pytest.raises(RunError, match=r"^cannot write to file/joined: "):
            merge_runs([folder], Path("file/joined"))

    def test_a_full_disk_is_reported_and_nothing_stays(self, write, monkeypatch):
        folder = write("a", {("iris", "A"): 0.5})
        before = sorted(Path().rglob("*"))
        insert = merging.insert

        def fill(db, table, rows):
            db.execute("PRAGMA max_page_count = 1")
            insert(db, table, rows)
            db.execute("CREATE TABLE more (x)")

        monkeypatch.setattr(merging, "insert", fill)
        with pytest.raises(RunError, match=r"^the disk is full or fails .* into joined/results.sqlite"):
            merge_runs([folder], Path("joined"))
        assert sorted(Path().rglob("*")) == before
