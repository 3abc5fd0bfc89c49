"""The nouns of a report: what is checked, and that importing them is cheap."""

import subprocess
import sys

import pytest

from mfbench.model.sections import Cell, Chart, Report, Section, Table


def test_a_section_with_data_alone_has_no_content():
    assert not Section("s", data={"a": list}).has_content
    assert Section("s", notes=["n"]).has_content


def test_what_does_not_fit_is_refused(subtests):
    for section, message in [
        (Section(1), "the title must be a string"),
        (Section("s", [["a"]]), "tables must be Table objects"),
        (Section("s", charts=["a"]), "charts must be Chart objects"),
        (Section("s", notes=[1]), "notes must be a list of strings"),
        (Section("s", [Table([1])]), "column names must be a list of strings"),
        (Section("s", [Table(["a"], [[Cell("1"), Cell("2")]])]), "a row has 2 cells, its table 1 columns"),
        (Section("s", [Table(["a"], [["1"]])]), "rows must consist of Cell objects"),
        (Section("s", Table(["a"])), "tables must be Table objects"),
        (Section("s", charts=Chart("c", "C")), "charts must be Chart objects"),
        (Section("s", charts=[Chart("c", None)]), "name, title and caption of a chart must be strings"),
        (Section("s", data=[1]), "data must be a dictionary of functions"),
        (Section("s", data={"a": 1}), "data must be a dictionary of functions"),
        (Section("s", [Table([])]), "a table must have a column"),
        (Section("s", [Table("ab")]), "column names must be a list of strings"),
        (Section("s", [Table(["a"], title=1)]), "the title of a table must be a string"),
        (Section("s", [Table(["a"], [[Cell(0.5)]])]), "the text of a cell must be a string, not 0.5"),
        (Section("s", [Table(["a"], footer_rows=1)]), "footer_rows must be a number of rows that the table has"),
        (Section("s", [Table(["a"], wrap=1)]), "wrap must be the index of a column"),
    ]:
        with subtests.test(section=section, message=message), pytest.raises(ValueError, match=message):
            section.check()


def test_what_fits_is_accepted():
    Section("s", [Table(["a"], [[Cell("1")]])], [Chart("c", "C")], ["note"]).check()


def test_a_report_finds_a_chart_by_name():
    chart = Chart("c", "C")
    report = Report("t", "s", [Section("one"), Section("two", charts=[chart])])
    assert report.chart("c") is chart
    assert report.chart("d") is None


def test_importing_them_loads_no_numeric_library():
    code = "import sys, mfbench; mfbench.Section; print({'numpy', 'pandas', 'rich'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"
