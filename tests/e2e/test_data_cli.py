"""Datasets from outside: mirrors, the cache, pull, import, verify and clear, with the network unplugged."""

import json
import subprocess
import sys
import textwrap
import time

import pytest
from hosts import mirror

SPECS = """
    from mfbench import DatasetSpec, hookimpl

    @hookimpl
    def mfbench_datasets():
        return [
            DatasetSpec(name="pebbles", summary="Round", n_samples=40, n_features=2, n_classes=2,
                        collections={"beach": "PEB"}, note="Round ones.", citation="The sea"),
            DatasetSpec(name="shells", summary="Flat", openml_id=900001, n_samples=40, n_features=2,
                        n_classes=2, collections={"beach": "SHE", "sea": "S"}),
            DatasetSpec(name="sand", summary="Nowhere", collections={"sea": "SND"}),
        ]
"""
# A repository in a few lines: it appends to a file when it is asked, and takes its time.
REPOSITORY = """
    import time
    from pathlib import Path
    import numpy as np
    from mfbench import Dataset
    from mfbench.data import repositories
    from mfbench.errors import DataUnavailableError

    def load_openml(reference, progress=None, **options):
        with Path("asked").open("a") as file:
            file.write(f"{reference}\\n")
        if Path("down").exists():
            reason = "cannot fetch it at https://x: connection refused"
            raise DataUnavailableError(reason, "check the network", attempt=reason)
        progress(0, 100)
        time.sleep(0.5)
        progress(100, 100)
        y = np.arange(40) % 2
        return Dataset(name="s", X=np.column_stack([y + 0.0, np.arange(40.0)]), y=y, class_names=("a", "b"),
                       feature_names=("u", "v"), categorical=np.zeros(2, bool), license="CC0"), {"url": "x"}

    repositories.load_openml = load_openml
    repositories.openml_suite = lambda reference: [900001, 900002]
"""
SUITE = """
    [suite]
    name = "own"
    [protocol]
    folds = 3
    [profiles.quick]
    folds = 3
    repeats = 1
    [[datasets]]
    use = ["iris", "pebbles", "shells", "sand"]
    [[methods]]
    label = "1NN"
    classifier = "knn(n_neighbors=1)"
"""


@pytest.fixture
def beach(host, tmp_path, monkeypatch):
    """A host with three datasets, a mirror of one, a repository of another, and an empty cache."""
    monkeypatch.setenv("MFBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("MFBENCH_DATA_DIR", raising=False)
    host.in_process = True
    host.plugin("beach_plugin", textwrap.dedent(SPECS) + textwrap.dedent(REPOSITORY))
    host.suite(SUITE)
    mirror(tmp_path / "mirror")
    return host


def where(result):
    """Return where each dataset is, out of a list."""
    assert result.returncode == 0, result.stderr
    lines = [line.split() for line in result.stdout.splitlines() if line.strip()]
    places = {"embedded", "mirror", "cached", "missing"}
    return {word: next(w for w in line if w in places) for line in lines for word in line[:2] if places & set(line)}


class TestSuites:
    @pytest.mark.slow(reason="several runs of the command line")
    def test_the_same_run_goes_on_with_more_data_at_hand(self, beach):
        first = beach.run("suite", "own.toml", "--profile", "quick", "--offline")
        assert first.returncode == 0, first.stderr
        told = [line for line in first.stdout.splitlines() if line.startswith("Left out")]
        assert told[0] == (
            "Left out as unavailable: shells; to download, run: mfbench datasets pull own.toml, or name a mirror with "
            "--data-dir"
        )
        assert told[1].startswith("Left out as unavailable: pebbles, sand; no known repository has them")
        second = beach.run("suite", "own.toml", "--profile", "quick", "--data-dir", "mirror")
        assert second.returncode == 0
        assert "fetching openml:900001" in second.stdout
        assert "9 trials (3 datasets × 1 method × 3 folds), 3 done before" in second.stdout
        third = beach.run("suite", "own.toml", "--profile", "quick", "--offline")
        assert "6 trials (2 datasets × 1 method × 3 folds), 6 done before" in third.stdout
        beach.run_folder()
        content = json.loads(beach.run("report", "own", "--json").stdout)
        assert content["unavailable"] == ["pebbles", "sand"] == sorted(content["left_out"])

    def test_all_left_out_is_nothing_measured(self, beach):
        result = beach.run("suite", "own.toml", "--offline", "--only", "sand", "--only", "shells")
        assert result.returncode == 3
        assert "No trials: there was nothing to measure." in result.stdout
        assert "Traceback" not in result.stderr
        assert beach.run("report", "own", "--json").returncode == 0

    def test_a_server_that_is_down_is_named_and_no_failure(self, beach, tmp_path):
        (tmp_path / "down").touch()
        result = beach.run("suite", "own.toml", "--only", "iris", "--only", "shells")
        assert result.returncode == 0
        assert "connection refused" in result.stdout

    def test_a_damaged_dataset_is_a_failure(self, beach, tmp_path):
        (tmp_path / "mirror" / "pebbles.csv.gz").write_bytes(b"nothing")
        result = beach.run("suite", "own.toml", "--offline", "--data-dir", "mirror")
        assert result.returncode == 1
        assert "Left out: pebbles: dataset 'pebbles' of the mirror mirror is damaged" in result.stdout

    def test_a_folder_that_is_no_mirror(self, beach, tmp_path):
        result = beach.run("suite", "own.toml", "--data-dir", str(tmp_path))
        assert result.returncode == 2
        assert result.stderr.count("\n") == 1 and "has no index.toml" in result.stderr
        assert not (tmp_path / "reports").exists()


class TestPull:
    def test_a_suite_a_collection_and_what_is_there(self, beach, tmp_path):
        result = beach.run("datasets", "pull", "own.toml", "--data-dir", "mirror")
        assert result.returncode == 1
        for line in (
            "iris: made by a plugin, nothing to fetch",
            "pebbles: in the mirror, nothing to fetch",
            "shells: fetched: 40 rows, 2 features, 2 classes",
            "1 of 4 datasets failed",
        ):
            assert line in result.stdout
        assert "sand: failed: dataset 'sand' is unavailable" in result.stdout
        again = beach.run("datasets", "pull", "shells")
        assert again.returncode == 0
        assert "shells: already in the cache" in again.stdout
        assert (tmp_path / "asked").read_text() == "900001\n"
        assert "shells: already in the cache" in beach.run("datasets", "pull", "beach", "--data-dir", "mirror").stdout

    def test_references_and_suites_of_openml(self, beach):
        result = beach.run("datasets", "pull", "openml-suite:99", "openml:900003")
        assert result.returncode == 0, result.stderr
        assert [line.split(": ")[0] for line in result.stdout.splitlines() if ": fetched" in line] == [
            "openml:900001",
            "openml:900002",
            "openml:900003",
        ]

    def test_a_failure_is_named(self, beach, tmp_path):
        (tmp_path / "down").touch()
        result = beach.run("datasets", "pull", "shells")
        assert result.returncode == 1
        assert "connection refused" in result.stdout
        assert not list(tmp_path.glob("cache/c*/*"))

    def test_names_that_mean_nothing(self, subtests, beach, tmp_path):
        for name in ["sheels", "../shells", "openml:../x", "mirror:../../x", ""]:
            with subtests.test(name=name):
                result = beach.run("datasets", "pull", name)
                assert result.returncode == 2
                assert "Traceback" not in result.stderr
                assert not (tmp_path / "cache").exists()

    def test_two_at_once_download_once(self, beach, tmp_path):
        running = [beach.start("datasets", "pull", "shells") for _ in range(2)]
        outputs = [process.communicate(timeout=300)[0] for process in running]
        assert [process.returncode for process in running] == [0, 0]
        assert (tmp_path / "asked").read_text() == "900001\n"
        assert sum("shells: fetched" in text for text in outputs) == 1

    def test_a_killed_download_leaves_nothing(self, beach, tmp_path):
        process = beach.start("datasets", "pull", "shells")
        while not (tmp_path / "asked").exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
        process.communicate()
        assert not list(tmp_path.glob("cache/c*/*"))
        assert beach.run("datasets", "pull", "shells").returncode == 0


class TestLooking:
    def test_where_everything_is(self, beach):
        assert {
            k: v for k, v in where(beach.run("datasets", "list")).items() if k in ("iris", "pebbles", "shells")
        } == {
            "iris": "embedded",
            "pebbles": "missing",
            "shells": "missing",
        }
        beach.run("datasets", "pull", "shells", "openml:900002")
        told = where(beach.run("datasets", "list", "--data-dir", "mirror", "--offline"))
        assert (told["pebbles"], told["shells"], told["openml:900002"]) == ("mirror", "cached", "cached")

    def test_a_collection_has_its_own_labels(self, beach):
        result = beach.run("datasets", "list", "--collection", "sea")
        assert where(result)["SND"] == "missing"
        assert "pebbles" not in result.stdout and "2 missing" in result.stdout
        wrong = beach.run("datasets", "list", "--collection", "see")
        assert wrong.returncode == 2 and "did you mean 'sea'" in wrong.stderr

    def test_show(self, beach):
        shown = beach.run("datasets", "show", "pebbles", "--data-dir", "mirror", "--offline").stdout
        for part in ("a (20), b (20)", "CC0", "The sea", "the beach", "mirror (mirror:pebbles)", "Round ones.", "PEB"):
            assert part in shown
        missing = beach.run("datasets", "show", "shells", "--offline")
        assert missing.returncode == 1
        assert "to download it, run: mfbench datasets pull shells" in missing.stderr

    def test_listing_a_full_cache_and_a_mirror_imports_no_numeric_library(self, beach):
        beach.run("datasets", "pull", "shells")
        script = textwrap.dedent(
            """
            import sys
            from mfbench.cli import main
            try:
                main(["datasets", "list", "--data-dir", "mirror"])
            except SystemExit as leave:
                assert not leave.code
            print(sorted({"numpy", "scipy", "sklearn", "pandas", "pyarrow", "requests", "openml"} & set(sys.modules)))
            """
        )
        environment = {**beach.environment, "MFBENCH_LOAD_PLUGINS": "all"}
        result = subprocess.run(
            [sys.executable, "-c", script], cwd=beach.folder, env=environment, capture_output=True, text=True
        )
        assert "mirror:pebbles" in result.stdout and "openml:900001" in result.stdout
        assert result.stdout.splitlines()[-1] == "[]"


class TestKeeping:
    def test_a_mirror_is_imported_and_serves_without_itself(self, beach):
        result = beach.run("datasets", "import", "mirror")
        assert result.returncode == 0
        assert "mirror:pebbles: imported: 40 rows, 2 features" in result.stdout
        shown = beach.run("datasets", "show", "pebbles", "--offline")
        assert "cache (mirror:pebbles)" in shown.stdout

    @pytest.mark.slow(reason="several runs of the command line")
    def test_a_file_is_imported_and_used_by_name(self, beach, tmp_path):
        rows = "".join(f"{i % 2},{'ab'[i % 2]},{i}\n" for i in range(30))
        (tmp_path / "my data.csv").write_text(f"u,kind,n\n{rows}")
        result = beach.run("datasets", "import", "my data.csv", "--target", "kind", "--categorical", "u")
        assert "import:my-data: imported: 30 rows, 2 features" in result.stdout
        (tmp_path / "my data.csv").unlink()
        assert "a (15), b (15)" in beach.run("datasets", "show", "import:my-data").stdout
        beach.suite(SUITE.replace('"iris", "pebbles", "shells", "sand"', '"import:my-data"'))
        run = beach.run("suite", "own.toml", "--profile", "quick")
        assert run.returncode == 0 and "import:my-data" in run.stdout

    def test_mistakes(self, subtests, beach, tmp_path):
        (tmp_path / "cache").mkdir()
        for words, complaint in [
            (["import", "none.csv"], "none.csv does not exist"),
            (["import", "own.toml"], "unknown type"),
            (["import", "cache"], "has no index.toml"),
            (["import", "mirror", "--name", "x"], "are for a file"),
            (["import", "mirror/pebbles.csv.gz", "--name", "../x"], "write it like import:patients"),
            (["clear", "pebbles"], "unknown cached dataset 'pebbles'"),
            (["show", "import:none"], "mfbench datasets import FILE --name none"),
        ]:
            with subtests.test(words=words, complaint=complaint):
                result = beach.run("datasets", *words)
                assert complaint in result.stderr
                assert result.returncode == (1 if words[0] == "show" else 2)
                assert "Traceback" not in result.stderr

    @pytest.mark.slow(reason="many commands")
    def test_verify_and_clear(self, beach, tmp_path):
        assert "is empty" in beach.run("datasets", "clear").stdout
        beach.run("datasets", "pull", "shells", "openml:900002")
        beach.run("datasets", "import", "mirror")
        unconfirmed = beach.run("datasets", "clear")
        assert unconfirmed.returncode == 2 and "confirm with --yes" in unconfirmed.stderr
        good = beach.run("datasets", "verify", "--data-dir", "mirror")
        assert good.returncode == 0
        assert "4 of 4 datasets are sound, 0 damaged" in good.stdout
        card = next(path for path in (tmp_path / "cache" / "cards").iterdir() if "900001" in path.name)
        card.write_text(card.read_text().replace('"a"', '"z"'))
        bad = beach.run("datasets", "verify")
        assert bad.returncode == 1
        assert "1 damaged" in bad.stdout and "900001" in bad.stdout
        assert "it is fetched again" in beach.run("datasets", "pull", "shells").stderr
        assert "deleted 1 dataset: openml:900001" in beach.run("datasets", "clear", "shells").stdout
        assert "deleted 2 datasets" in beach.run("datasets", "clear", "--yes").stdout
        assert not list(tmp_path.glob("cache/c*/*"))
        assert "0 of 0 datasets are sound, 0 damaged" in beach.run("datasets", "verify").stdout


def test_from_python(beach, tmp_path, monkeypatch):
    import mfbench
    from mfbench.errors import DataUnavailableError

    assert mfbench.load_dataset("mirror:pebbles", data_dir=tmp_path / "mirror").n_samples == 40
    with pytest.raises(DataUnavailableError, match="the network is off"):
        mfbench.load_dataset("openml:61", offline=True)
    suite = beach.suite(SUITE.replace('"pebbles", "shells", "sand"', '"mirror:pebbles", "openml:61"'))
    monkeypatch.delenv("MFBENCH_LOAD_PLUGINS", raising=False)
    out = tmp_path / "out"
    run = mfbench.run_suite(str(suite), profile="quick", jobs=1, out=out, data_dir=tmp_path / "mirror", offline=True)
    assert list(run.unavailable) == ["openml:61"]
    assert set(run.scores["dataset"]) == {"iris", "mirror:pebbles"}
