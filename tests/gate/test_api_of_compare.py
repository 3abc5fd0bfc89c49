"""`mfbench.compare_results` and the files that a comparison is written to."""

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import mfbench
from mfbench.errors import MfbenchError, UsageError
from mfbench.model.trials import Trial, TrialResult
from mfbench.run.store.store import Store
from mfbench.suite.protocols import Split
from mfbench_gate.api import compare_results, read_result, write_formats
from mfbench_gate.comparison import CellVerdict, ComparedCell, Comparison, Side


def benchmark_file(folder, name, seconds, benchmark="fit"):
    entry = {"fullname": benchmark, "stats": {"median": seconds}}
    path = folder / name
    path.write_text(json.dumps({"version": "5.1.0", "benchmarks": [entry]}))
    return path


def test_it_is_a_function_of_the_package():
    assert mfbench.compare_results is compare_results


def test_paths_of_files_are_compared(tmp_path):
    base, head = benchmark_file(tmp_path, "a.json", 1.0), benchmark_file(tmp_path, "b.json", 1.5)
    comparison = compare_results(base, str(head))
    assert [(cell.method, cell.ratio) for cell in comparison.cells] == [("fit", 1.5)]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"level": 0.0}, "the level 0 is not between 0 and 0.5"),
        ({"level": 0.5}, "the level 0.5 is not between"),
        ({"level": float("nan")}, "the level nan is not between"),
        ({"limits": ["time=0.5"]}, "at least 1"),
        ({"only": ["x"]}, "--only 'x' matches nothing"),
    ],
)
def test_a_wrong_option_is_one_sentence(tmp_path, options, sentence):
    path = benchmark_file(tmp_path, "a.json", 1.0)
    with pytest.raises(UsageError, match=sentence):
        compare_results(path, path, **options)


@pytest.fixture
def run_folder(tmp_path, make_metadata):
    """The folder of a run with one trial, below a folder of runs."""
    folder = tmp_path / "runs" / "own" / "quick-1"
    dataset = {"label": "d", "sha256": "abc", "n_samples": 4, "n_features": 1, "class_names": ["no", "yes"],
               "feature_names": ["u"], "relevant": None, "interactions": None, "collections": {}, "source": "here",
               "truth": np.array([0, 1, 0, 1])}  # fmt: skip
    trial = Trial("k", "d", "A", 0, 0, 1)
    with Store(folder) as store:
        store.begin(make_metadata(), [dataset], [])
        store.set_plan([trial])
        store.add_splits("abc", "key:d", 0, [Split(np.array([0, 1]), np.array([2, 3]))], (2, 1))
        scores = {"accuracy": 1.0, "balanced_accuracy": 1.0}
        store.add(trial, TrialResult(key="k", scores=scores, fit_wall=1.0, predictions=np.array([0, 1])))
    return folder


@pytest.mark.parametrize("name", ["runs/own/quick-1", "runs/own", "runs/own/quick-1/results.sqlite", "own"])
def test_a_run_is_named_by_its_folder_its_file_or_its_suite(run_folder, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    result = read_result(name, "runs")
    assert result.side.name == name
    assert result.run.path.resolve() == run_folder


def test_a_run_that_is_open_is_compared_with_one_that_is_stored(run_folder):
    comparison = compare_results(mfbench.load_run(run_folder), run_folder)
    assert [(cell.measure, str(cell.verdict)) for cell in comparison.cells] == [
        ("accuracy", "no worse"), ("balanced_accuracy", "no worse"), ("time", "trend"),
    ]  # fmt: skip


def test_what_does_not_exist(tmp_path):
    with pytest.raises(UsageError, match="holds no run"):
        read_result("nowhere", tmp_path)


COMPARISON = Comparison(
    Side("main"),
    Side("HEAD"),
    cells=[ComparedCell("RFF", "wine", "time", 1.0, 1.2, CellVerdict.WORSE, unit="s", ratio=1.2)],
)


def test_every_format_has_a_file(tmp_path):
    names = {"markdown": "a.md", "junit": "sub/a.xml", "pytest_benchmark": "p.json"}
    names |= {"github_action_benchmark": "g.json", "bencher": "b.json"}
    write_formats(COMPARISON, {name: tmp_path / file for name, file in names.items()})
    assert (tmp_path / "a.md").read_text().startswith("<!-- mfbench-comparison -->")
    assert ElementTree.parse(tmp_path / "sub/a.xml").getroot().tag == "testsuites"
    contents = [json.loads((tmp_path / file).read_text()) for file in ("p.json", "g.json", "b.json")]
    assert [type(content) for content in contents] == [dict, list, dict]


def test_no_file_is_written_without_a_request(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_formats(COMPARISON, {"markdown": None, "junit": None})
    assert not list(Path().iterdir())


def test_a_file_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(MfbenchError, match="cannot write"):
        write_formats(COMPARISON, {"markdown": tmp_path / "file" / "a.md"})
