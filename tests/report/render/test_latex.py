"""Tables as LaTeX: booktabs, no raw special sign, the best in bold, totals after a rule."""

import re

from mfbench.model.sections import Cell, Report, Section, Table
from mfbench.report.contents import report_of
from mfbench.report.render.files import escape, to_latex

SPECIAL = "\\{}$&#_%~^"


def latex_of(*tables, title="Report", section="Section"):
    return to_latex(Report(title, "", [Section(section, list(tables))]))


def rows_between(text, begin, end):
    """Return the lines between two rules."""
    return text.split(begin)[1].split(end)[0].strip().splitlines()


def unescaped(text):
    """Return LaTeX without what `escape` makes of special signs; a sign that is left is raw."""
    commands = r"\\text(backslash|asciitilde|asciicircum|bar)\{\}|\\dots\{\}|\$(\\[a-z]+|[<>])\$|\\[{}$&#_%]"
    return re.sub(commands, "", text)


class TestEscape:
    def test_no_special_sign_is_left_raw(self):
        for sign in SPECIAL:
            assert escape(f"a{sign}b") != f"a{sign}b"
            assert unescaped(escape(f"a{sign}b")) == "ab"

    def test_signs_next_to_each_other(self):
        assert not unescaped(escape(SPECIAL * 2))
        assert escape("\\{}") == r"\textbackslash{}\{\}"
        assert escape("</script>") == "$<$/script$>$"
        assert escape("{{7*7}}_a.b[0]") == r"\{\{7*7\}\}\_a.b[0]"

    def test_signs_of_the_report_are_plain_ascii(self):
        for sign in "±≈≫≪<>→×–…αχ≥≤|▲▼\n":
            assert escape(sign).isascii() and escape(sign) != sign

    def test_letters_stay(self):
        assert escape("Größe 1.5 (n=3) 'a' \"b\"") == "Größe 1.5 (n=3) 'a' \"b\""


class TestTable:
    TABLE = Table(
        ["dataset", "A_1", "B & C"],
        [
            [Cell("iris"), Cell("98.1 ± 0.4", "best"), Cell("97.0 ≈", "not-worse")],
            [Cell("50%"), Cell("90.0 ≫", "best-marked"), Cell("–", "missing")],
            [Cell("average rank"), Cell("1.00"), Cell("2.00")],
        ],
        "Scores",
        footer_rows=1,
    )

    def test_the_environment_is_complete_and_in_order(self):
        text = latex_of(self.TABLE)
        assert text.startswith("% \\usepackage{booktabs,graphicx}\n")
        parts = [
            r"\begin{table}", r"\centering", r"\caption{", r"\begin{tabular}{lrr}", r"\toprule", r"\midrule",
            r"\midrule", r"\bottomrule", r"\end{tabular}", r"\end{table}",
        ]  # fmt: skip
        places, start = [], 0
        for part in parts:
            start = text.index(part, start) + 1
            places.append(start)
        assert places == sorted(places)
        assert r"\hline" not in text

    def test_braces_are_balanced_and_every_row_has_all_cells(self):
        text = latex_of(self.TABLE)
        braces = re.sub(r"\\[{}]", "", text)
        assert braces.count("{") == braces.count("}")
        rows = [line for line in text.splitlines() if line.endswith(r" \\")]
        assert [len(re.findall(r"(?<!\\)&", row)) for row in rows] == [2] * 4

    def test_names_of_columns_are_above_the_first_rule(self):
        assert rows_between(latex_of(self.TABLE), r"\toprule", r"\midrule") == [r"dataset & A\_1 & B \& C \\"]

    def test_the_best_is_bold_with_its_mark_and_nothing_else(self):
        text = latex_of(self.TABLE)
        assert re.findall(r"\\textbf\{(.*?)\}", text) == [r"98.1 $\pm$ 0.4", r"90.0 $\gg$"]
        assert r"97.0 $\approx$ \\" in text and r"-- \\" in text

    def test_totals_come_after_a_rule(self):
        text = latex_of(self.TABLE)
        assert text.count(r"\midrule") == 2
        assert text.split(r"\midrule")[-1].splitlines()[1:3] == [r"average rank & 1.00 & 2.00 \\", r"\bottomrule"]

    def test_without_totals_there_is_one_rule(self):
        assert latex_of(Table(["a"], [[Cell("x")]])).count(r"\midrule") == 1

    def test_a_table_without_rows_has_its_columns(self):
        text = latex_of(Table(["a", "b"]))
        assert rows_between(text, r"\toprule", r"\bottomrule") == [r"a & b \\", r"\midrule"]

    def test_the_caption_names_report_section_and_table(self):
        assert r"\caption{Report. Section: Scores.}" in latex_of(self.TABLE)
        assert r"\caption{50\% of R\&D. a\_b.}" in latex_of(Table(["a"]), title="50% of R&D", section="a_b")

    def test_the_first_cell_of_a_row_does_not_continue_the_row_before(self):
        for name in ["[0.5]", "*A", "[", "*"]:
            table = Table([name, "b"], [[Cell(name), Cell("1")], [Cell(name, "best"), Cell("[2]")]], footer_rows=1)
            rows = [line for line in latex_of(table).splitlines() if line.endswith(r" \\")]
            assert rows == [f"{{}}{name} & b \\\\", f"{{}}{name} & 1 \\\\", f"\\textbf{{{name}}} & [2] \\\\"]

    def test_hostile_names_are_plain_text_everywhere(self):
        for name in [
            "<img src=x onerror=alert(1)>",
            "</script>",
            "{{7*7}}",
            "a.b[0]",
            "\\input{x}",
            "a\nb",
            "%",
            "$x$",
            "#1",
        ]:
            table = Table([name, "b"], [[Cell(name), Cell(name, "best")]], name, footer_rows=1)
            text = latex_of(table, title=name, section=name)
            assert text.count(escape(name)) == 6
            rest = text.replace(escape(name), "")
            assert "\\input" not in text and "$" not in rest and "#" not in rest
            assert not [line for line in text.splitlines()[1:] if re.search(r"(?<!\\)%(?!$)", line)]


def test_every_table_of_a_run_is_there_without_a_raw_sign(small_run):
    report = report_of(small_run, statistics=True)
    tables = [table for section in report.sections for table in section.tables]
    text = to_latex(report)
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == len(tables) > 2
    cells = [cell for line in text.splitlines() if line.endswith(r" \\") for cell in re.split(r"(?<!\\)&", line[:-3])]
    plain = [unescaped(re.sub(r"\\textbf\{(.*)\}", r"\1", cell)) for cell in cells]
    assert not [cell for cell in plain if set(cell) & set(SPECIAL)]
    assert text.isascii()


def test_scores_of_a_run_have_their_best_in_bold_and_totals_below(small_run):
    scores = to_latex(report_of(small_run)).split(r"\begin{table}")[1]
    _, body, totals = scores.split(r"\midrule")
    assert [line.split(" & ")[1].startswith(r"\textbf{") for line in body.strip().splitlines()] == [True, True]
    assert [line.split(" & ")[0] for line in totals.splitlines() if line.endswith(r" \\")] == [
        "papers' rule W/T/L", "sound W/T/L", "detectable, median", "average rank"
    ]  # fmt: skip


def test_a_report_without_tables_has_only_its_comment():
    assert to_latex(Report("R", "", [Section("S", notes=["A note."])])).strip() == "% \\usepackage{booktabs,graphicx}"


def test_a_column_that_wraps_is_a_paragraph():
    text = latex_of(Table(["what", "why"], [[Cell("a"), Cell("long " * 60)]], wrap=1))
    assert r"\begin{tabular}{lp{0.60\linewidth}}" in text
