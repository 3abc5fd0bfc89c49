"""The profile of times: shares of datasets within a factor of the fastest method."""

from mfbench.report.sections.timing import time_ratios


def test_the_fastest_method_comes_first(small_run):
    section = time_ratios(small_run.time_ratios)
    assert (
        section.title == f"Time: share of {len(small_run.time_ratios)} datasets within a factor of the fastest method"
    )
    (table,) = section.tables
    assert table.columns[0] == "method" and table.columns[-1] == "median factor"
    assert sorted(row[0].text for row in table.rows) == ["A", "B", "C"]
    assert all(0 <= float(cell.text) <= 1 for row in table.rows for cell in row[1:-1])
    assert [chart.name for chart in section.charts] == ["time-profile"]


def test_without_a_finished_dataset_there_is_no_section(write_run):
    section = time_ratios(write_run({("d", "A"): [None] * 5}).time_ratios)
    assert not section.has_content
    assert section.data["time_ratios"]() == {}
