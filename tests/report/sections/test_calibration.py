"""Methods equal by construction: how often each rule rejects."""

import numpy as np

from mfbench.report.contents import report_of
from mfbench.report.sections.across_datasets import calibration
from mfbench.stats.paired import corrected_t_test


class TestEqualByConstruction:
    def test_the_share_that_each_rule_rejects(self, write_run):
        rng = np.random.default_rng(0)
        cells = {(f"two(seed={i})", m): list(rng.random(5)) for i in range(6) for m in "AB"}
        run = write_run(cells, report={"equal": [["A", "B"]]})
        right = {m: [rng.random(20) < 0.7 for _ in range(5)] for m in "AB"}
        run.decisions = lambda dataset, method: right[method]
        section = report_of(run).sections[0]
        assert section.title.startswith("Rejected at α = 0.05")
        table, best = section.tables
        assert [cell.text for cell in best.rows[0]][:4] == ["A …", "2", "two", "6"]
        rules = {row[0].text: row[1].text for row in table.rows}
        assert rules["datasets"] == "6"
        rejected = run.rejections.set_index("rule")["rejected"]
        assert rules["paired t, first repetition"].startswith(
            f"{100 * rejected['paired t, first repetition'] / 6:.1f} ["
        )
        assert "every rejection is an error" in " ".join(section.notes)

    def test_a_splitter_without_verdicts_is_measured_and_named(self, write_run):
        rng = np.random.default_rng(0)
        cells = {(f"two(seed={i})", m): list(rng.random(5)) for i in range(6) for m in "AB"}
        own = {"repeats": 1, "folds": 5, "ratio": 0.5}
        splits = {f"two(seed={i})": {"splitter": "odd", "resampling": "" if i else "folds", **own} for i in range(6)}
        run = write_run(cells, report={"equal": [["A", "B"]]}, splits=splits)
        right = {m: [rng.random(20) < 0.7 for _ in range(5)] for m in "AB"}
        run.decisions = lambda dataset, method: right[method]
        section = calibration(run)
        shares = run.rejections.set_index("rule")
        assert set(shares["datasets"]) == {6}
        corrected = [corrected_t_test(np.array(cells[d, "A"]), np.array(cells[d, "B"]), 0.5).p_value for d in splits]
        assert shares["rejected"]["corrected t, first repetition"] == sum(p < 0.05 for p in corrected)
        assert run.worse_than_best["comparisons"].tolist() == [1], "a report would call no method worse on the others"
        assert any("no verdict on folds by odd; this is what" in note for note in section.notes)

    def test_a_list_of_equal_methods_is_divided_into_lists_of_each_size(self, write_run):
        rng = np.random.default_rng(0)
        cells = {(f"two(seed={i})", m): list(rng.random(5)) for i in range(3) for m in "ABCDEFG"}
        run = write_run(cells, report={"equal": [list("ABCDEFG")]})
        assert run.equal_pairs == [["A", "B"]]
        found = run.worse_than_best.set_index("methods")
        assert found["comparisons"].to_dict() == {2: 9, 5: 3}
        for size, row in found.iterrows():
            wrong = 0
            for dataset in run.scores["dataset"].unique():
                for start in range(0, 7 - size + 1, size):
                    part = {m: cells[dataset, m] for m in "ABCDEFG"[start : start + size]}
                    scores = write_run({("d", m): values for m, values in part.items()}).scores
                    wrong += not scores["not_worse"].all()
            assert row["rejected"] == wrong

    def test_a_pair_that_was_left_out_does_not_count(self, write_run):
        run = write_run({("d", "A"): 0.5, ("e", "A"): 0.5}, report={"equal": [["A", "Z"]]})
        assert run.equal_pairs == []

    def test_a_run_without_such_pairs_has_no_table(self, small_run):
        assert not calibration(small_run).tables
