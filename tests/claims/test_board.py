"""The board: leaderboards from bundles, what was verified of each, and files that do not count."""

import json
import shlex
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import mfbench
from mfbench.api import Request, prepare_suite
from mfbench.errors import UsageError
from mfbench.report.progress import Silent
from mfbench.report.render.files import to_json, to_markdown
from mfbench.run.runner import RunOptions, execute
from mfbench_claims.board import board_of
from mfbench_claims.verification import chance_of_finding, percent_text, sample_of
from mfbench_claims.writing import write_bundle

sys.path.append(str(Path(__file__).parents[1] / "run"))
from forgery import forged, perfected
from small_claims import in_process, small_claim, small_run
from small_runs import SUITE

__all__ = ["in_process", "small_claim", "small_run"]  # fixtures


def rows_of(report, number=0):
    return [[cell.text for cell in row] for row in report.sections[number].tables[0].rows]


def record(claim, target, **options):
    verification = mfbench.verify_bundle(claim, **{"sample": None, "jobs": 1, **options})
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(verification.to_dict()), encoding="utf-8")
    return verification


def test_a_bundle_without_records_was_never_verified(small_claim, tmp_path):
    shutil.copy(small_claim, tmp_path / "own.zip")
    report = board_of(tmp_path)
    leaderboard, bundles = rows_of(report), rows_of(report, 1)
    assert len(leaderboard) == 4 and {row[1] for row in leaderboard} == {"1"}  # one dataset separates nothing
    assert {row[6] for row in leaderboard} == {"never verified"} and bundles[0][2:] == ["never verified", *"––––"]
    assert {row[-1] for row in leaderboard} == {"mfbench verify own.zip --all"}  # its suite is installed nowhere
    assert "own.zip 0 %" in report.sections[1].notes[0] and not report.problems
    data = json.loads(to_json(report))["leaderboards"][0]
    means = mfbench.load_run(small_claim).scores.set_index("method")["mean"]
    assert {row["method"]: row["gap"] for row in data["methods"]} == pytest.approx((means - means.max()).to_dict())
    assert {row["verified"] for row in data["methods"]} == {0}


def test_a_row_has_the_command_that_computes_it(tmp_path, in_process):
    request = Request("uci", only=("iris", "1NN", "MINE"), add=("MINE = anova-f -> knn",), out=tmp_path, offline=True)
    plan, run, registry = prepare_suite(request)
    execute(plan, run, registry, RunOptions(jobs=1), Silent())
    write_bundle(run, tmp_path / "board" / "uci.zip")
    commands = {row[0]: row[-1] for row in rows_of(board_of(tmp_path / "board"))}
    words = shlex.split(commands["MINE"])
    assert words[:3] == ["mfbench", "suite", "uci"] and words[-2:] == ["--only", "MINE"]
    again = Request("uci", add=(words[words.index("--add") + 1],), only=("iris", "MINE"), out=tmp_path, offline=True)
    assert prepare_suite(again)[0].methods["MINE"] == plan.methods["MINE"]
    assert next(text for name, text in commands.items() if "1NN" in name).endswith("--only 1NN")


def test_records_of_a_bundle_add_up(small_claim, tmp_path, in_process):
    shutil.copy(small_claim, tmp_path / "own.zip")
    first = record(small_claim, tmp_path / "records" / "1.json", sample=3, seed=1)
    record(small_claim, tmp_path / "records" / "2.json", sample=3, seed=2)
    both = {(t.dataset, t.method, t.repeat, t.fold) for seed in (1, 2) for t in
            mfbench.verify_bundle(small_claim, sample=3, seed=seed, jobs=1).trials}  # fmt: skip
    (one, two) = rows_of(board_of(tmp_path), 1)
    assert one[2] == f"{len(both)} of 12" and [one[4], two[4]] == ["3, --seed 1", "3, --seed 2"]
    assert one[3] == first.machine != "" and one[5] == two[5] == "equal"
    assert one[6] == two[6] == "nothing"


def test_a_record_names_what_differs_where_it_was_made(small_claim, tmp_path, in_process):
    shutil.copy(small_claim, tmp_path / "own.zip")
    path = tmp_path / "records" / "1.json"
    record(small_claim, path, sample=3, seed=1)
    content = json.loads(path.read_text(encoding="utf-8"))
    content["differences"] = {"numpy 3 instead of 2": 3, "another processor or system": 3}
    path.write_text(json.dumps(content), encoding="utf-8")
    (row,) = rows_of(board_of(tmp_path), 1)
    assert row[6] == "numpy 3 instead of 2 and another processor or system"


def test_a_forged_result_is_seen_in_its_row(small_claim, tmp_path, in_process):
    def improve(rows):
        rows[3] |= perfected(small_claim)[rows[3]["key"]]

    claim = forged(small_claim, tmp_path / "claim.zip", trials=improve)
    record(claim, tmp_path / "records" / "1.json")
    report = board_of(tmp_path)
    assert rows_of(report, 1)[0][5].startswith("results differ")
    assert sum("1 different" in row[6] for row in rows_of(report)) == 1


def test_bundles_of_one_suite_share_a_leaderboard(small_run, small_claim, tmp_path, in_process):
    (tmp_path / "own.toml").write_text(SUITE)
    for name, only in (("one", ("A", "B")), ("two", ("C", "D"))):
        plan, run, registry = prepare_suite(Request(str(tmp_path / "own.toml"), only=only, out=tmp_path / name))
        execute(plan, run, registry, RunOptions(jobs=1), Silent())
        write_bundle(run, tmp_path / "board" / f"{name}.zip")
    report = board_of(tmp_path / "board")
    leaderboard = rows_of(report)
    methods = json.loads(to_json(report))["leaderboards"][0]["methods"]
    assert (
        sorted(row["method"] for row in methods) == ["A", "B", "C", "D"] and len({row[7] for row in leaderboard}) == 2
    )
    assert report.setting == "1 leaderboard of 2 bundles"


def test_other_files_do_not_count_and_are_named(small_claim, tmp_path):
    shutil.copy(small_claim, tmp_path / "own.zip")
    (tmp_path / "bad.zip").write_bytes(b"PK no")
    (tmp_path / "records").mkdir()
    (tmp_path / "records" / "bad.json").write_text('{"format": 1, "sha256": "<script>alert(1)</script>"}')
    report = board_of(tmp_path)
    assert len(report.problems) == 2 and report.setting == "1 leaderboard of 1 bundle"
    assert any("bad.zip" in problem for problem in report.problems)
    assert any("bad.json is not a verification record" in problem for problem in report.problems)
    assert "<script>" not in to_markdown(report)
    with pytest.raises(UsageError, match="there is no bundle below"):
        board_of(tmp_path / "nothing")


def test_the_chance_of_finding_a_forgery_is_that_of_the_samples():
    places = [("d", "m", 0, fold) for fold in range(200)]
    hits = [any(place[3] < 10 for place in sample_of(places, 20, seed)) for seed in range(2000)]
    expected = chance_of_finding(200, 20, 0.05)
    assert np.mean(hits) == pytest.approx(expected, abs=3 * np.sqrt(expected * (1 - expected) / 2000))
    assert [chance_of_finding(n, 0, 0.05) for n in (10, 200)] == [0, 0] and chance_of_finding(200, 200, 0.05) == 1
    assert chance_of_finding(0, 0, 0.05) == 0
    texts = [percent_text(chance) for chance in (0.0, 0.00001, 0.0512, 0.5, 0.9994, 0.9999, 1.0)]
    assert texts == ["0 %", "0 %", "5.1 %", "50 %", "99.9 %", "over 99.9 %", "100 %"]


def test_a_budget_is_spent_on_the_first_of_the_sample(small_claim, in_process):
    whole = mfbench.verify_bundle(small_claim, budget="1h", seed=3, jobs=1)
    least = mfbench.verify_bundle(small_claim, budget=0.0001, seed=3, jobs=1)
    assert len(whole.trials) == 12 and len(least.trials) == 1
    assert least.trials == mfbench.verify_bundle(small_claim, sample=1, seed=3, jobs=1).trials
