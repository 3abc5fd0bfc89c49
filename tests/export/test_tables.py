"""Tables as Parquet and SQLite hold what the run holds."""

import json
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

import mfbench
from mfbench.cli.entry import main
from mfbench_export.tables import write_parquet, write_sqlite


@pytest.fixture
def run(small_run):
    return mfbench.load_run(small_run)


def test_parquet(run, tmp_path):
    lines = list(write_parquet(run, tmp_path / "p"))
    tables = {path.stem: pd.read_parquet(path) for path in (tmp_path / "p").iterdir()}
    assert set(tables) == {"run", "methods", "datasets", "trials", "scores", "comparisons"}
    assert lines[3] == f"Wrote {tmp_path / 'p' / 'trials.parquet'}: 12 rows."
    trials = tables["trials"]
    assert list(trials.columns) == list(run.trials.columns)
    pd.testing.assert_series_equal(trials["accuracy"], run.trials["accuracy"])
    assert all(map(np.array_equal, trials["predictions"], run.trials["predictions"]))
    assert [json.loads(text) for text in trials["chosen"]] == list(run.trials["chosen"])
    assert json.loads(tables["datasets"]["classes"][0]) == run.datasets["classes"][0]
    assert tables["run"].loc[0, "suite"] == "own" and tables["run"].loc[0, "date"] == run.meta.environment.date
    assert list(tables["methods"]["description"]) == list(run.methods.values())


def test_sqlite_answers_questions_on_arrays(run, tmp_path):
    path = tmp_path / "run.sqlite"
    path.write_text("an earlier export")
    assert len(list(write_sqlite(run, path))) == 6
    with closing(sqlite3.connect(path)) as db:
        means = dict(db.execute("SELECT method, AVG(accuracy) FROM trials GROUP BY method"))
        used = dict(db.execute("SELECT method, MAX(json_array_length(selected)) FROM trials GROUP BY method"))
    expected = run.trials.groupby("method")["accuracy"].mean()
    assert means == pytest.approx(expected.to_dict())
    assert used == {"A": 1, "B": 2, "C": 4, "D": None}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--to", "parquet", "-o", "file"], "file is a file: name a folder for the Parquet files"),
        (["--to", "sqlite", "-o", "."], ". is a folder: name a file for the database"),
        (["--to", "openml"], "OpenML takes results on the splits of its own tasks, and this run has none"),
        (["--to", "csv"], "'csv' is not one of 'parquet', 'sqlite', 'openml', 'mlflow'"),
    ],
)
def test_bad_requests(small_claim, tmp_path, monkeypatch, capsys, words, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit) as caught:
        main(["export", str(small_claim), *words])
    assert caught.value.code == 2
    assert message in " ".join(capsys.readouterr().err.split())
