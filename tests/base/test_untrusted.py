"""Text of others in each output: what a program would obey is gone, and what people read is left."""

import json
import os
import subprocess

import numpy as np

from mfbench.base.text import (
    csv_cell,
    cut,
    json_document,
    markdown,
    markdown_paragraph,
    plain,
    plain_lines,
    plain_text,
    shell_command,
)


def test_words_of_any_language_stay_as_they_are(subtests):
    for text in ["", "petal width", "\u0645\u06cc\u200c\u062e", "日本\u3000語", "a\xa0b", "👩\u200d🔬", "\ue000"]:
        with subtests.test(text=text):
            assert plain(text) == text


def test_a_printed_command_is_one_line_that_a_shell_reads_as_its_words():
    words = ["two\nlines", "it's \x1b[31m", "back\\slash\t", "\udcff", "日本", ""]
    line = shell_command(words)
    assert line.isprintable()
    done = subprocess.run(["bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, check=True)
    assert done.stdout.split(b"\0")[:-1] == [os.fsencode(word) for word in words]


def test_what_a_program_obeys_is_removed(subtests):
    for text, expected in [
        ("a\x1b[31mb\x9b2J", "a[31mb2J"),
        ("a\r\nb\tc\x85d\u2028e\u2029f", "a  b c d e f"),
        ("\u202ea\u2066b\u200fc\ufeff", "abc"),
        ("a\0b\x7f\ufffe\ufdd0", "ab"),
        ("\ud800", "\\ud800"),
    ]:
        with subtests.test(text=text, expected=expected):
            assert plain(text) == expected


def test_lines_stay_lines():
    assert plain_lines("a\x07\nb\r\n") == "a\nb \n"


def test_a_short_line_of_any_value():
    assert plain_text("a\x1b]0;b\x07\r\n\tc\u202ed") == "a]0;b cd"
    assert plain_text(None) == "" and plain_text(7) == "7" and plain_text("abc", 2) == "a…"
    assert cut("abc", 3) == "abc"


def test_no_cell_is_a_formula(subtests):
    for text in ["=1+1", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", " =1", "\uff1d1", "-", "\x1b=1", "-inf()"]:
        with subtests.test(text=text):
            assert csv_cell(text) == "'" + plain(text)


def test_json_means_the_same_and_no_terminal_obeys_it():
    text = "a\x1b\x9b\u202e\u2028é\ud800\n日"
    document = json_document(json.dumps([text], ensure_ascii=False))
    assert json.loads(document) == [text]
    assert plain(document) == document and "é" in document


def test_numbers_and_other_cells_stay(subtests):
    for value in ["-1.5", "+1e-5", "-.5", "1", "a=b", "", -1.5, np.float64(-2), None, True]:
        with subtests.test(value=value):
            assert csv_cell(value) is value


def test_markdown_shows_text_as_it_is(subtests):
    for text, expected in [
        ("relief_f 98.1 ± 0.4, p < 0.05, +1.1 [+0.2, +2.0] & #1", None),
        ("*a* _b_ `c` ~~d~~ e|f", r"\*a\* \_b\_ \`c\` \~\~d\~\~ e\|f"),
        ("<script> </b> <!-- <?", r"\<script> \</b> \<!-- \<?"),
        ("[a](b) [a][b] [a]: b", r"[a\](b) [a\][b] [a\]: b"),
        ("&lt; \\ $x$", r"\&lt; \\ \$x\$"),
        ("a\n# b", "a # b"),
    ]:
        with subtests.test(text=text, expected=expected):
            assert markdown(text) == (text if expected is None else expected)


def test_a_paragraph_is_nothing_else(subtests):
    for text, expected in [
        ("# a", r"\# a"),
        ("- a", r"\- a"),
        ("12) a", r"12\) a"),
        ("> a", r"\> a"),
        ("---", r"\---"),
        ("===", r"\==="),
        ("    code", "code"),
        ("-1.5 and #5", None),
        ("2.5 is a number", None),
    ]:
        with subtests.test(text=text, expected=expected):
            assert markdown_paragraph(text) == (text if expected is None else expected)
