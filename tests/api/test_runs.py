"""Stored runs in Python: opening one or several."""

import gc
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import mfbench
from mfbench.api.request import find_run, load_run, opened_runs
from mfbench.errors import RunError, UsageError
from mfbench.run.store.file import FILE_NAME
from mfbench.run.store.metadata import Reused
from mfbench.run.store.store import Store
from mfbench.stats.results import Run

sys.path.append(str(Path(__file__).parents[1] / "run"))
from small_claims import small_claim, small_run

__all__ = ["small_claim", "small_run"]  # fixtures

SPREAD = np.array([-0.02, -0.01, 0, 0.01, 0.02])


def cells(datasets=("d", "e", "f"), methods="ABC"):
    """Scores that are the same whichever run they are in."""
    return {
        (dataset, method): list(0.9 - 0.1 * "ABC".index(method) - 0.01 * "def".index(dataset) + np.roll(SPREAD, k))
        for dataset in datasets
        for k, method in enumerate(methods)
    }


@pytest.fixture
def run(write_run):
    return Run(write_run(cells(), title="Title <b>").path)


class TestLoad:
    @pytest.fixture
    def folder(self, tmp_path, run_writer):
        """Two runs of a suite, of which the first was written to last."""
        write = run_writer(tmp_path / "reports" / "own")
        first, second = write(cells(), title="first"), write(cells(), title="second")
        os.utime(second.path / FILE_NAME, (1, 1))
        return first.path.parent

    def test_a_folder_of_runs_opens_the_one_written_to_last(self, folder):
        last = load_run(folder)
        assert last.meta.title == "first"
        os.utime(last.path / FILE_NAME, (0, 0))
        assert load_run(str(folder)).meta.title == "second"

    def test_a_shard_is_opened_only_where_there_is_no_whole_run(self, folder):
        name = min(folder.iterdir()).name
        shard = folder / f"{name}-shard-1-of-2"
        shutil.copytree(folder / name, shard)
        os.utime(shard / FILE_NAME, (2e9, 2e9))
        assert load_run(folder).path != shard
        for path in [path for path in folder.iterdir() if path != shard]:
            shutil.rmtree(path)
        assert load_run(folder).path == shard

    def test_a_run_is_a_run_of_the_package(self, run):
        assert isinstance(load_run(run.path), mfbench.Run)
        assert load_run(str(run.path)).scores.equals(run.scores)

    def test_a_run_is_found_by_its_path_or_by_its_suite(self, folder, run):
        assert find_run(str(run.path)).path == run.path
        assert find_run("own", folder.parent).meta.title == "first"

    def test_a_folder_of_another_content_does_not_hide_a_run(self, folder, run, monkeypatch, tmp_path):
        (tmp_path / "here" / "own").mkdir(parents=True)
        monkeypatch.chdir(tmp_path / "here")
        assert find_run("own", folder.parent).meta.title == "first"
        with pytest.raises(UsageError, match="holds no run"):
            find_run("own", "elsewhere")
        Path("own").rmdir()
        Path("own").write_text("")
        assert find_run("own", folder.parent).meta.title == "first"
        with pytest.raises(UsageError, match="own is not the folder of a run, but a file"):
            find_run("./own", folder.parent)

    def test_where_there_is_no_run_the_suites_are_named(self, folder):
        reason = r"other holds no run \(no results.sqlite\); 'mfbench suite NAME' creates one; there are runs of own$"
        with pytest.raises(UsageError, match=reason):
            find_run("other", folder.parent)
        with pytest.raises(UsageError, match=r"creates one$"):
            load_run(folder.parent.parent / "other")

    def test_a_bundle_is_a_run_for_as_long_as_the_run_is_used(self, small_run, small_claim):
        run, opened = load_run(small_run), find_run(str(small_claim))
        assert opened.bundle == small_claim and str(small_claim) in repr(opened)
        assert opened.scores.equals(run.scores) and opened.summary().equals(run.summary())
        assert "not verified here" in opened._repr_html_()
        balanced = opened.replace(metric="balanced_accuracy").scores
        assert balanced.equals(run.replace(metric="balanced_accuracy").scores) and not balanced.equals(run.scores)
        dataset, method = "iris", "A"
        folder, part = opened.path, opened.restricted([dataset])
        del opened
        gc.collect()
        assert part.predictions(dataset, method).equals(run.predictions(dataset, method))
        del part
        gc.collect()
        assert not folder.exists()

    def test_a_file_that_is_neither_a_run_nor_a_bundle(self, tmp_path):
        for content in (b"PK", b"PK\x05\x06" + bytes(18)):
            (tmp_path / "claim.zip").write_bytes(content)
            with pytest.raises(UsageError, match=r"claim.zip is refused as a bundle: "):
                load_run(tmp_path / "claim.zip")
        (tmp_path / "own.toml").write_text("")
        with pytest.raises(UsageError, match=r"own.toml is not the folder of a run, but a file$"):
            load_run(tmp_path / "own.toml")

    def test_a_damaged_store_is_an_error(self, tmp_path):
        (tmp_path / FILE_NAME).write_bytes(b"no database" * 100)
        with pytest.raises(RunError):
            load_run(tmp_path)


class TestOpenedRuns:
    def test_one_run_is_itself(self, run):
        for names in ([str(run.path)], [str(run.path), f"{run.path}/."]):
            with opened_runs(names) as opened:
                assert opened.path.resolve() == run.path.resolve()
                assert list(opened.remarks) == []
                assert opened.scores.equals(run.scores)

    def test_parts_of_a_suite_are_compared_as_one_run(self, run, write_run):
        parts = [write_run(cells(datasets)) for datasets in (("d",), ("e", "f"))]
        with opened_runs([str(part.path) for part in parts]) as joined:
            assert isinstance(joined, Run)
            assert joined.scores.equals(run.scores)
            assert joined.summary().equals(run.summary())
            assert "3 datasets" in joined._repr_html_()
            folder = joined.path
            assert folder.is_dir()
        assert not folder.exists()
        assert not [path for part in parts for path in part.path.iterdir() if path.name.startswith("joined")]

    def test_methods_of_two_runs_are_compared(self, run, write_run):
        parts = [write_run(cells(methods=methods)) for methods in ("AB", "C")]
        with opened_runs([str(part.path) for part in parts]) as joined:
            assert list(joined.methods) == ["A", "B", "C"]
            assert len(joined.scores) == 9

    def test_remarks_on_the_parts_are_kept(self, write_run):
        parts = [write_run(cells(methods=methods)) for methods in ("AB", "C")]
        with Store(parts[0].path) as store, store.writing("meta") as db:
            (key,) = db.execute("SELECT key FROM plan LIMIT 1").fetchone()
            reused = Reused(keys={"base": [key]}).model_dump_json()
            db.execute("INSERT OR REPLACE INTO meta VALUES ('reused', ?)", [reused])
        with opened_runs([str(part.path) for part in parts]) as joined:
            (remark,) = joined.remarks
            assert remark.startswith("1 of ") and remark.endswith("1 from base.")

    def test_a_bundle_is_joined_under_its_name(self, run, small_run, small_claim):
        with opened_runs([str(small_run), str(small_claim)]) as joined:
            assert joined.scores.equals(load_run(small_run).scores)
            (name,) = joined.claims
            assert name.startswith("claim.zip (sha256 ") and name in joined._repr_html_()
        with pytest.raises(RunError, match=str(small_claim)), opened_runs([str(run.path), str(small_claim)]):
            pytest.fail("they must not be joined")

    def test_runs_of_other_folds_are_not_joined(self, write_run):
        parts = [write_run(cells(("d",))), write_run({("e", m): [0.5, 0.6] for m in "ABC"}, folds=2)]
        with pytest.raises(RunError), opened_runs([str(part.path) for part in parts]):
            pytest.fail("they must not be joined")

    def test_a_run_that_does_not_exist_is_named(self, run):
        with pytest.raises(UsageError, match="nowhere holds no run"), opened_runs([str(run.path), "nowhere"]):
            pytest.fail("there is no such run")
