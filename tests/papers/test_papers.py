"""Papers: their descriptions, which runs they take, and the dossier of printed figures beside ours."""

import json
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

import mfbench_papers.paper
from mfbench.api.request import Request, prepare_suite
from mfbench.cli import main
from mfbench.errors import UsageError
from mfbench.host.features import FeatureEntry
from mfbench.host.registry import load_registry
from mfbench.report.render.files import to_json, to_latex, to_markdown
from mfbench.suite.published import PublishedFigure, read_published
from mfbench_papers.dossier import dossier_of
from mfbench_papers.paper import Paper, RunOptions, papers, read_paper
from mfbench_papers.runs import request_of, stored_runs


@pytest.mark.parametrize("name", papers())
def test_the_papers_built_in_name_suites_profiles_labels_and_tables_that_exist(name, tmp_path):
    for part in read_paper(name).runs:
        for scale in ("quick", "whole"):
            plan, _, registry = prepare_suite(request_of(part, scale, offline=True, out=tmp_path))
            published = plan.loaded.suite.report.published
            assert part.tables == ([published] if isinstance(published, str) else published)
            labels = {*plan.datasets, *plan.left_out, *plan.methods}
            for each in read_paper(name).statements:
                if each.suite == part.suite and scale == "whole":
                    assert {*each.datasets, each.method} <= labels
                    assert isinstance(each.to, float) or each.to in labels
                    assert each.figure in plan.loaded.all_scores
        for table in part.tables:
            assert read_published(table, registry, Path()).values


def test_a_request_has_the_options_of_its_scale():
    (part, _) = read_paper("sqpfw-2011").runs
    only = ("wdbc", "sonar", "image-segmentation-sqp", "ionosphere-sqp", "parkinsons")
    assert request_of(part, "quick", jobs=2) == Request("sqpfw", profile="quick", only=only, jobs=2)
    with pytest.raises(ValidationError, match="fresh"):
        RunOptions(fresh=True)


PAPER = Paper.model_validate(
    {
        "title": "Own (2026)",
        "citation": "A. Author: Own. 2026",
        "protocol": "Five folds.",
        "runs": [
            {"suite": "own", "tables": ["sqpfw_table1"], "quick": {}, "whole": {}},
            {"suite": "other", "tables": ["sqpfw_table2"], "quick": {}, "whole": {}},
        ],
        "errata": [{"where": "(1)", "printed": "a", "ours": "b", "evidence": "A test shows it."}],
        "missing": [{"what": "Table 3", "why": "No data."}],
    }
)


@pytest.fixture
def run(write_run):
    cells = {("wdbc", "Relief"): 0.9, ("wdbc", "Simba"): 0.8, ("sonar", "Simba"): 0.7, ("sonar", "Relief"): 0.7}
    figures = [
        PublishedFigure("sqpfw_table1", "wdbc", "Relief", "Bre", 0.9),
        PublishedFigure("sqpfw_table1", "wdbc", "Simba", "Bre", 0.7),
        PublishedFigure("sqpfw_table1", "sonar", "Simba", "Con", 0.712, repeats=100),
        PublishedFigure("sqpfw_table1", "sonar", "Relief", "Con", 0.7, obstacle="another size"),
    ]
    return write_run(cells, published=figures, rows=1000)


def test_a_dossier_counts_the_verdicts_of_each_table(run):
    report = dossier_of("own-2026", PAPER, {"own": run}, load_registry(only=["suites"]))
    assert report.answer == [
        "3 of 58 printed figures can be compared with ours: 1 equivalent, 1 above, 0 below, 1 undecided."
    ]
    assert report.problems == ["The suite other has no results here: mfbench paper own-2026 --quick runs it."]
    sections = {section.title: section for section in report.sections if section.has_content}
    assert list(sections) == [
        "Verdicts", "Figures of own", "What would decide the rest", "Errata", "Not computed",
    ]  # fmt: skip
    first, second, total = [[cell.text for cell in row] for row in sections["Verdicts"].tables[0].rows]
    assert first[1:] == ["50", "4", "3", "1", "1", "1", "0", "67 %"]
    assert second[1:] == ["8", "0", "0", "0", "0", "0", "0", "–"] and total[1] == "58"
    (row,) = [[cell.text for cell in row] for row in sections["What would decide the rest"].tables[0].rows]
    needed = int(run.published["repeats_to_decide"].dropna().item())
    assert row[:2] == ["sonar", "Simba"] and row[-1] == str(needed)


def test_a_dossier_in_every_form(run):
    report = dossier_of("own-2026", PAPER, {"own": run}, load_registry(only=["suites"]))
    assert "Printed: a. Right: b. A test shows it." in to_markdown(report)
    assert "90.0/90.0" in to_latex(report)
    content = json.loads(to_json(report))
    assert content["paper"] == "own-2026" and content["tables"][0]["equivalent"] == 1


def test_a_paper_without_results_says_so():
    report = dossier_of("own-2026", PAPER, {}, load_registry(only=["suites"]))
    assert report.answer == ["None of 58 printed figures can be compared yet."] and len(report.problems) == 2


def test_the_largest_run_of_a_suite_is_taken(write_run, tmp_path):
    figures = [PublishedFigure("t", "d", "A", "D", 0.9)]
    small = write_run({("d", "A"): [0.9, None, None, None, None]}, published=figures)
    large = write_run({("d", "A"): 0.9}, published=figures)
    assert stored_runs(PAPER, [small.path, large.path, small.path], tmp_path)["own"].path == large.path
    out = tmp_path / "reports"
    (out / "own").mkdir(parents=True)
    large.path.rename(out / "own" / "quick-1")
    (out / "own" / "broken").mkdir()
    assert stored_runs(PAPER, [], out)["own"].path == out / "own" / "quick-1"
    assert stored_runs(PAPER, [], tmp_path / "nothing") == {}


def test_a_run_of_another_suite_is_refused(run, tmp_path):
    with pytest.raises(UsageError, match="is a run of own, which this paper does not use"):
        stored_runs(read_paper("sqpfw-2011"), [run.path], tmp_path)


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """Return a function that installs a paper of another package, with some text."""

    def install(text):
        package = tmp_path / "theirs"
        package.mkdir()
        (package / "__init__.py").write_text("")
        (package / "new-2026.toml").write_text(text)
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.delitem(sys.modules, "theirs", raising=False)
        entries = {
            "new-2026": FeatureEntry("new-2026", "theirs", "theirs"),
            "lost": FeatureEntry("lost", "no_such", "x"),
        }
        monkeypatch.setattr(mfbench_papers.paper, "entries", lambda group: (entries, ()))

    return install


@pytest.fixture
def invoke(capsys):
    """Return a function that gives ``mfbench paper`` some words; it returns exit code, output and errors."""

    def run(*words):
        with pytest.raises(SystemExit) as ended:
            main(["paper", *words])
        captured = capsys.readouterr()
        return ended.value.code, captured.out, captured.err

    return run


def test_a_paper_of_another_package(outside, invoke, tmp_path):
    outside(
        'title = "New (2026)"\ncitation = "N. Author"\nprotocol = "p"\n'
        '[[runs]]\nsuite = "sqpfw"\ntables = ["sqpfw_table1"]\nquick = {}\nwhole = {}\n'
    )
    code, text, _ = invoke("new-2026", "--md", "--out", str(tmp_path))
    assert code == 0 and "# New (2026): printed and ours" in text and "None of 50 printed figures" in text


def test_a_paper_that_cannot_be_read_is_one_sentence(outside):
    outside('title = "New (2026)"\n')
    with pytest.raises(UsageError, match=r"theirs/new-2026.toml: citation"):
        read_paper("new-2026")
    with pytest.raises(UsageError, match="the paper 'lost' of the package 'no_such' cannot be read: ModuleNotFound"):
        read_paper("lost")
    with pytest.raises(UsageError, match="unknown paper 'new-2025': did you mean 'new-2026'"):
        read_paper("new-2025")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("sqpfw-2011", "--md", "--json"), "choose one of --json, --md, --latex and --html"),
        (("sqpfw-2011", "--quick", "--whole"), "choose one of --quick, --whole and RUN"),
        (("sqpfw-2011", "-o", "x.html"), "--output needs one of"),
    ],
)
def test_options_that_contradict_each_other(invoke, words, message):
    code, _, text = invoke(*words)
    assert code == 2 and message in " ".join(text.split())


def test_without_a_name_all_papers_are_listed(invoke):
    code, text, _ = invoke()
    assert code == 0 and [line.split()[0] for line in text.splitlines()] == papers()
