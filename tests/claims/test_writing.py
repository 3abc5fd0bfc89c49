"""Writing bundles: the same bytes each time, and nothing private in any of them."""

import json
import shutil
import sqlite3
import zipfile
from pathlib import Path

import pytest
from forgery import members_of
from tampering import changed

from mfbench.errors import MfbenchError, RunError, UsageError
from mfbench.run.store.store import Store
from mfbench_claims import archive
from mfbench_claims.form import CRATE, MEMBERS
from mfbench_claims.reading import opened_bundles
from mfbench_claims.writing import write_bundle

HOST = "bigbox-7"


@pytest.fixture
def run(small_run, tmp_path):
    return Path(shutil.copytree(small_run, tmp_path / "somebody" / "out" / "own" / small_run.name))


def record(run, name, value):
    with Store(run) as store:
        store.record(name, value)


def recorded(run, name):
    with Store(run, read_only=True) as store:
        return store.recorded(name, None)


def test_the_same_run_gives_the_same_bytes(run, tmp_path):
    first = write_bundle(run, tmp_path / "a.zip")
    second = write_bundle(run.rename(run.with_name("secret project")), tmp_path / "new" / "b.zip")
    assert first.path.read_bytes() == second.path.read_bytes()
    assert (first.planned, first.results, first.remarks) == (12, 12, [])
    assert [path.name for path in second.path.parent.iterdir()] == ["b.zip"]
    with zipfile.ZipFile(first.path) as archive:
        assert sorted(archive.namelist()) == sorted([*MEMBERS, CRATE])
        assert {about.date_time for about in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_the_parameters_of_a_grid_keep_their_order(run, tmp_path):
    suite = recorded(run, "suite")
    suite["methods"][0]["tune"] = {"z": [1], "a": [2]}
    record(run, "suite", suite)
    content = json.loads(members_of(write_bundle(run, tmp_path / "claim.zip").path)["metadata.json"])
    assert list(content["suite"]["methods"][0]["tune"]) == ["z", "a"]


def test_nothing_private_is_in_any_byte(run, tmp_path, monkeypatch):
    home = tmp_path / "somebody"
    monkeypatch.setenv("HOME", str(home))
    environment = recorded(run, "environment") | {
        "command": [f"{home}/bin/mfbench", "suite", "own", "--data-dir", f"{home}/data"],
    }
    record(run, "environment", environment)
    record(run, "other_environments", [environment])
    suite = recorded(run, "suite")
    suite["datasets"][0]["use"].append(f"file:{home}/mine.csv")
    suite["report"]["published"] = f"{home}/table.csv"
    record(run, "suite", suite)
    words = ["--data-dir", f"{home}/data", "--offline", "--add-data", f"file:{home}/mine.csv"]
    record(run, "command", ["mfbench", "suite", f"{home}/own.toml", *words])
    record(run, "machines", {f"tcp://{HOST}:1234": "CPU × 2, Linux"})
    record(run, "reused", {"keys": {}, "differences": {}, "passed_over": [f"{home}/out cannot be read"]})
    texts = ("error_message", "error_trace", "warning", "touched")
    words = f'File "{home}/my code/x.py",\nline 1; {home}/secret/y.csv; /srv/z.csv'
    with changed(run) as db:
        for name in texts:
            db.execute(f"UPDATE trials SET {name} = ?", [words])
        db.execute("UPDATE datasets SET source = ?", [f"file {home}/mine.csv"])
        db.execute("INSERT INTO left_out VALUES ('wine', ?, 1, 0, ?)", [words, words])
    claim = write_bundle(run, tmp_path / "claim.zip").path
    for name, content in members_of(claim).items():
        for secret in (str(tmp_path), "somebody", "secret", "my code", HOST):
            assert secret.encode() not in content, (secret, name)
    assert str(tmp_path).encode() not in claim.read_bytes()
    with opened_bundles([claim]) as (bundle,):
        assert bundle.meta.suite.model_dump()["datasets"][0]["use"] == ["iris", "file:mine.csv"]
        assert bundle.meta.command == ["mfbench", "suite", "own", "--profile", "full"]
        assert bundle.meta.machines == {"machine 1": "CPU × 2, Linux"}
        with Store(bundle.folder, read_only=True) as store:
            text, trace = next(store.raw("SELECT warning, error_trace FROM trials"))
    assert (text, trace) == ('File "…/x.py", line 1; …/y.csv; /srv/z.csv', None)


def test_a_private_path_in_a_parameter_is_refused(run, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "somebody"))
    methods = recorded(run, "methods")
    record(run, "methods", methods | {"A": f"lookup(table='{tmp_path}/somebody/t.csv')"})
    with pytest.raises(RunError, match=r"its suite contains the private path '.*/somebody'"):
        write_bundle(run, tmp_path / "claim.zip")
    assert [path.name for path in tmp_path.iterdir()] == ["somebody"]


def test_results_of_earlier_plans_and_damaged_ones_are_not_in_it(run, tmp_path):
    with changed(run) as db:
        db.execute("DELETE FROM plan WHERE method = 'D'")
    with sqlite3.connect(run / "results.sqlite") as db:
        db.execute("UPDATE trials SET n_selected = 99 WHERE key = (SELECT key FROM plan WHERE position = 0)")
    written = write_bundle(run, tmp_path / "claim.zip")
    assert (written.planned, written.results) == (9, 8)
    assert written.remarks == ["Not in the bundle: 1 damaged result."]


def test_a_bundle_that_everybody_would_refuse_is_not_written(run, tmp_path):
    with changed(run) as db:
        db.execute("UPDATE trials SET scores = ?", ['{"accuracy": Infinity}'])
    with pytest.raises(RunError, match="cannot be bundled, because its bundle would be refused: row 1 of its member"):
        write_bundle(run, tmp_path / "claim.zip")
    assert [path.name for path in tmp_path.iterdir()] == ["somebody"]


def test_runs_that_cannot_be_bundled(run, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    for target in (tmp_path / "file" / "claim.zip", tmp_path / "file" / "below" / "claim.zip"):
        with pytest.raises(MfbenchError, match=r"^cannot write .*claim\.zip: "):
            write_bundle(run, target)
    for name in ("LARGEST_DOCUMENT", "LARGEST_LINE", "LARGEST_CONTENT"):
        with monkeypatch.context() as patch, pytest.raises(RunError, match="cannot be bundled, because"):
            patch.setattr(archive, name, 100)
            write_bundle(run, tmp_path / "claim.zip")
    with changed(run) as db:
        db.execute("DELETE FROM plan")
    with pytest.raises(RunError, match="has no trials"):
        write_bundle(run, tmp_path / "claim.zip")
    with pytest.raises(RunError, match="holds no run"):
        write_bundle(tmp_path / "nothing", tmp_path / "claim.zip")
    assert not (tmp_path / "claim.zip").exists()


def test_a_bundle_is_not_written_to_a_folder(subtests, run, tmp_path):
    for target in ["", ".", "..", "/"]:
        with subtests.test(target=target), pytest.raises(UsageError, match="is a folder: name the file"):
            write_bundle(run, Path(target))
