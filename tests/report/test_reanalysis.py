"""The analysis of a published table, in every form, from the command line."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from mfbench.cli import main
from mfbench.errors import UnknownNameError
from mfbench.host.registry import load_registry
from mfbench.model.evaluation import Score
from mfbench.report.heading import Form
from mfbench.report.present import present_table, reanalyse
from mfbench.suite.published import read_published, shipped_tables


def present(name, form=None, width=160):
    console = Console(file=io.StringIO(), width=width)
    text = present_table(name, form or Form(), console)
    return console.file.getvalue() + text


def test_the_printed_table_of_2020():
    text = present("immigrate2020_table2", Form(statistics=True))
    words = " ".join(text.split())
    for part in (
        "Friedman χ² = 146.7 (17 degrees of freedom",
        "F = 14.42 (17 and 323 degrees of freedom, p = 1.5e-30)",
        "Critical difference 5.89",
        "On datasets like these",
        "Ranks across 20 datasets",
        "2.55", "5.42", "6.30", "7.48", "7.52", "15.70",
    ):  # fmt: skip
        assert part in words
    named = " ".join(present("immigrate2020_table2", Form(reference="IGT", statistics=True)).split())
    assert "IGT better" in named and "not significant " not in named


def test_the_printed_table_of_the_ensembles():
    words = " ".join(present("immigrate2020_table3", Form(reference="BIM", statistics=True)).split())
    assert "RF 2.20 +1.09 +1.0 [+0.2, +1.8] 1.2 +0.63 0.017 0.017 0.50 0.50 0.00 BIM better" in words


def test_a_reference_chosen_as_the_best_is_adjusted_for_the_choice():
    table = read_published("immigrate2020_table3", load_registry(only=["suites"]), Path())
    named, chosen = reanalyse(table, Score(), "BIM"), reanalyse(table, Score())
    assert (named.n_comparisons, chosen.n_comparisons) == (3, 6)
    pairs = chosen.pairs.set_index(["first", "second"])["holm"]
    for row in chosen.against_reference.to_dict("records"):
        assert row["holm"] == pairs["BIM", row["second"]]
    assert (chosen.against_reference["holm"] >= named.against_reference["holm"]).all()
    assert chosen.claims.not_worse[0] == "BIM" and chosen.claims.not_worse == named.claims.not_worse
    text = " ".join(present("immigrate2020_table3", Form(statistics=True)).split())
    assert "because the reference was chosen as the best of the same scores" in text


def test_another_reference_and_all_pairs():
    form = Form(reference="RF", statistics=True)
    words = " ".join(present("immigrate2020_table3", form).split())
    assert "RF ahead by, capped" in words
    assert "All 6 pairs" in words and "a tie counts half" in words


def test_json_csv_and_markdown():
    content = json.loads(present("immigrate2020_table3", Form("json")))
    assert content["reference"] == "BIM"
    assert content["overall"]["ranks"]["BIM"] == pytest.approx(1.575)
    assert content["overall"]["friedman"]["n_datasets"] == 20
    assert present("immigrate2020_table3", Form("csv")).startswith("first,second,mean,difference,low,high")
    markdown = present("immigrate2020_table3", Form("md"))
    assert markdown.startswith("# IMMIGRATE 2020, table 3") and "```text" in markdown
    assert "CD = 1.05" in present("immigrate2020_table3", Form("figure", "critical-difference"))


def test_every_shipped_table_can_be_analysed():
    registry = load_registry(only=["suites"])
    for name in shipped_tables(registry):
        assert present(name, width=100)


def test_a_table_with_holes_leaves_datasets_out(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text(
        "dataset,method,value\n" + "".join(f"d{i},{m},0.{i}{k}\n" for i in range(1, 6) for k, m in enumerate("AB", 3))
    )
    with path.open("a") as handle:
        handle.write("d9,A,0.5\n")
    table = read_published(str(path), load_registry(only=[]), tmp_path)
    overall = reanalyse(table, Score())
    assert (overall.reference, overall.n_datasets, overall.completed.dropped) == ("B", 5, ["d9"])


def test_refusals():
    with pytest.raises(UnknownNameError, match="method of this table"):
        present("immigrate2020_table3", Form(reference="XYZ"))
    with pytest.raises(UnknownNameError, match="figure"):
        present("immigrate2020_table3", Form("figure", "pie"))


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["report"], "name either a run or"),
        (["report", "uci", "--published", "immigrate2020_table2"], "name either a run or"),
        (["report", "--published", "immigrate2020_tabel2"], "did you mean"),
        (["report", "--published", "immigrate2020_table2", "--json", "--figure", "critical-difference"], "choose one"),
        (["report", "--published", "immigrate2020_table2", "-o", "x"], "--output needs"),
    ],
)
def test_the_command_line_names_the_mistake(words, part, capsys):
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 2
    assert part in capsys.readouterr().err


def test_a_figure_is_written_to_a_file(tmp_path, capsys):
    target = tmp_path / "figures" / "cd.svg"
    with pytest.raises(SystemExit) as left:
        main(["report", "--published", "immigrate2020_table2", "--figure", "critical-difference", "-o", str(target)])
    assert left.value.code == 0
    assert target.read_text(encoding="utf-8").startswith("<svg")
    assert capsys.readouterr().out == ""
