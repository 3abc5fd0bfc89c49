"""The commands ``bundle`` and ``verify``, and ``suite --reuse``."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mfbench.cli.entry import main

sys.path.append(str(Path(__file__).parents[1] / "run"))
from forgery import forged, perfected
from small_claims import in_process, small_claim, small_run

__all__ = ["in_process", "small_claim", "small_run"]  # fixtures


@pytest.fixture
def leave(tmp_path, monkeypatch):
    """Return a function that runs a command in an empty folder and returns its exit code."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["mfbench", *words])
        with pytest.raises(SystemExit) as caught:
            main(list(words))
        return int(caught.value.code)

    return run


def test_bundle(leave, small_run, small_claim, tmp_path, capsys):
    assert leave("bundle", str(small_run)) == 0
    assert capsys.readouterr().out == "Wrote claim.zip: 12 results.\nTo verify it: mfbench verify claim.zip\n"
    assert (tmp_path / "claim.zip").read_bytes() == small_claim.read_bytes()
    assert leave("bundle", "own", "--out", str(small_run.parents[1]), "-o", "my claims") == 0
    assert "mfbench verify 'my claims/own/claim.zip'" in capsys.readouterr().out
    assert leave("bundle", "nothing") == 2
    assert leave("bundle") == 2


def test_verify(leave, small_claim, tmp_path, in_process, capsys):
    claim = str(small_claim)
    assert leave("verify", claim, "--sample", "4", "--seed", "9", "-j", "1") == 0
    out = capsys.readouterr().out
    assert "Sample: 4 trials with --seed 9.\n      4 equal to the bit\n" in out
    assert leave("verify", claim, "--all", "--json", "-j", "1") == 0
    content = json.loads(capsys.readouterr().out)
    assert content["counts"]["equal"] == content["compared"] == 12 and content["format"] == 1
    perfect = perfected(small_claim)
    worse = forged(small_claim, tmp_path / "claim.zip", trials=lambda rows: rows[0].update(perfect[rows[0]["key"]]))
    assert leave("verify", str(worse), "--all", "-j", "1") == 1
    assert ": accuracy is 1.0 in the bundle and 0." in capsys.readouterr().out


def test_board(leave, small_claim, tmp_path, in_process, capsys):
    (tmp_path / "board").mkdir()
    shutil.copy(small_claim, tmp_path / "board" / "own.zip")
    assert leave("verify", "board/own.zip", "--budget", "1h", "-j", "1", "--record", "board/records/1.json") == 0
    assert "If 5 % were forged" not in capsys.readouterr().out  # all were compared
    assert leave("board", "board", "--md") == 0
    text = capsys.readouterr().out
    assert "# Board" in text and "3 of 3" in text and "12 of 12" in text
    assert leave("board", "board", "--html", "-o", "site/index.html") == 0
    assert "<title>Board" in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert leave("board", "nothing") == 2


@pytest.mark.slow(reason="runs the script of the workflow with worker processes")
@pytest.mark.skipif(os.name == "nt", reason="a bash script")
def test_the_script_of_the_workflow_refuses_a_forged_bundle(small_claim, tmp_path):
    def improve(rows):
        for row in rows:
            row |= perfected(small_claim)[row["key"]]

    forgery = forged(small_claim, tmp_path / "forged; exit 0.zip", trials=improve)
    script = Path(__file__).resolve().parents[2] / ".ci" / "verify_submissions"
    environment = {**os.environ, "BUDGET": "5s", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for bundles, code in (([small_claim], 0), ([forgery, small_claim], 1), ([tmp_path / "none.zip"], 1)):
        words = ["bash", str(script), str(tmp_path / "records"), *map(str, bundles)]
        ended = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert ended.returncode == code, ended.stderr
    assert len(list((tmp_path / "records").glob("*.json"))) == 2


def test_what_is_refused(leave, small_claim, tmp_path, capsys):
    assert leave("verify", str(small_claim), "--all", "--sample", "3") == 2
    assert "choose one of --sample, --budget and --all" in capsys.readouterr().err
    (tmp_path / "claim.zip").write_bytes(b"PK")
    reuse = ["suite", "uci", "--only", "iris", "--reuse", "claim.zip"]
    for words in (["verify", "claim.zip"], ["report", "claim.zip"], ["report", "claim.zip", "--html"], reuse):
        assert leave(*words) == 2
        assert capsys.readouterr().err == "mfbench: claim.zip is refused as a bundle: it is not a zip file\n"


class TestReport:
    CLAIMED = "; results as claimed by claim.zip (sha256 "

    @pytest.fixture
    def claim(self, small_claim, tmp_path):
        return shutil.copyfile(small_claim, tmp_path / "claim.zip")

    def test_a_bundle_is_reported_as_a_run_and_the_head_says_so(self, leave, claim, capsys):
        for form in ([], ["--full"], ["--md"], ["--json"]):
            assert leave("report", "claim.zip", *form) == 0
            out = " ".join(capsys.readouterr().out.split())
            assert self.CLAIMED in out and "/content/run" not in out

    def test_its_numbers_are_those_of_the_run(self, leave, small_run, claim, capsys):
        assert leave("report", "claim.zip", "--csv") == 0
        claimed = capsys.readouterr().out
        assert leave("report", str(small_run), "--csv") == 0
        assert claimed == capsys.readouterr().out != ""

    def test_its_page_is_beside_it(self, leave, claim, tmp_path, capsys):
        assert leave("report", "claim.zip", "--html") == 0
        assert capsys.readouterr().out == "claim.html\n"
        page = (tmp_path / "claim.html").read_text()
        assert self.CLAIMED in page and "mfbench report claim.zip --html --output claim.html" in page
        assert leave("report", "claim.zip") == 0
        assert "Page: claim.html" in capsys.readouterr().out

    def test_a_place_that_is_not_writable_is_one_sentence(self, leave, claim, tmp_path, capsys):
        (tmp_path / "claim.html").mkdir()
        assert leave("report", "claim.zip", "--html") == 1
        error = capsys.readouterr().err
        assert error == "mfbench: cannot write claim.html: Is a directory; name another place with --output\n"
        assert leave("report", "claim.zip", "--html", "--output", "other.html") == 0

    def test_results_that_no_report_can_be_made_of(self, leave, small_claim, tmp_path, capsys):
        gone = set()

        def unplan(rows):
            gone.update(row["key"] for row in rows if (row["method"], row["fold"]) == ("D", 1))
            drop(rows)

        def drop(rows):
            rows[:] = [row for row in rows if row["key"] not in gone]

        forged(small_claim, tmp_path / "claim.zip", plan=unplan, trials=drop)
        assert leave("report", "claim.zip") == 2
        error = capsys.readouterr().err
        assert error.startswith("mfbench: claim.zip is refused as a bundle: no report can be made of its results (")
        assert error.count("\n") == 1

    def test_no_bundle_is_written_from_a_bundle(self, leave, claim, capsys):
        assert leave("bundle", "claim.zip", "-o", "other.zip") == 2
        assert capsys.readouterr().err == "mfbench: claim.zip is a bundle: to write one, name a run\n"


def test_nothing_could_be_compared(leave, small_claim, tmp_path, capsys):
    def rename(meta):
        for method in meta["suite"]["methods"]:
            method["classifier"] = "not-installed"

    claim = forged(small_claim, tmp_path / "claim.zip", metadata=rename)
    assert leave("verify", str(claim), "-j", "1") == 3
    assert "Could not be run here:\n" in capsys.readouterr().out


def test_reuse(leave, small_run, small_claim, in_process, capsys):
    suite = str(small_run.parents[2] / "own.toml")
    words = ["suite", suite, "--add", "MINE = variance -> top 2 -> knn", "--reuse", str(small_claim), "--no-page"]
    assert leave(*words, "--dry-run") == 0
    assert "12" in capsys.readouterr().out
    assert leave(*words, "-j", "1") == 0
    out = capsys.readouterr().out
    assert "12 done before" in out
    assert "12 of 15 results are from unverified bundles, and so are their times: 12 from claim.zip (sha256 " in out
