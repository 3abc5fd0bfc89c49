"""Methods equal by construction: how often each rule rejects."""

import numpy as np

from mfbench.report.contents import report_of
from mfbench.report.sections.across_datasets import calibration


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
