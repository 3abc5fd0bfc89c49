"""Methods equal by construction: how often each rule rejects."""

import numpy as np

from mfbench.report.contents import report_of
from mfbench.report.sections.calibration import calibration


class TestEqualByConstruction:
    def test_the_share_that_each_rule_rejects(self, write_run):
        rng = np.random.default_rng(0)
        cells = {(f"two(seed={i})", m): list(rng.random(5)) for i in range(6) for m in "AB"}
        run = write_run(cells, report={"equal": [["A", "B"]]})
        right = {m: [rng.random(20) < 0.7 for _ in range(5)] for m in "AB"}
        run.decisions = lambda dataset, method: right[method]
        section = report_of(run).sections[0]
        assert section.title.startswith("Rejected at α = 0.05")
        (table,) = section.tables
        rules = {row[0].text: row[1].text for row in table.rows}
        assert rules["datasets"] == "6"
        rejected = run.rejections.set_index("rule")["rejected"]
        assert rules["paired t, first repetition"].startswith(
            f"{100 * rejected['paired t, first repetition'] / 6:.1f} ["
        )
        assert "every rejection is an error" in " ".join(section.notes)

    def test_a_pair_that_was_left_out_does_not_count(self, write_run):
        run = write_run({("d", "A"): 0.5, ("e", "A"): 0.5}, report={"equal": [["A", "Z"]]})
        assert run.equal_pairs == []

    def test_a_run_without_such_pairs_has_no_table(self, small_run):
        assert not calibration(small_run).tables
