"""The rules for language, names and layout that `.ci/lint.py` enforces."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINT = runpy.run_path(str(ROOT / ".ci" / "lint.py"))

REFUSED = [
    "Goes over the suite's seed.",
    "IGT is not told apart from RF.",
    "what is already at hand is said",
    "'x' is no number",
    "a folder that is none",
    "takes overlapping folds for independent ones",
    "A stretch of columns, told and not learned",
    "planned anew",
]
ACCEPTED = [
    "there is no such dataset",
    "it is no longer used",
    "TOP stands for it",
    "the value is not a number",
    "the value is None",
]


def test_the_repository_follows_the_rules():
    findings = LINT["findings"]()
    assert not findings, "\n" + "\n".join(findings)


def test_a_phrase_is_refused_in_each_sentence_that_it_was_made_for_and_in_no_plain_english():
    assert [text for text in [*REFUSED, *ACCEPTED] if list(LINT["refused_phrases"]([(1, text)]))] == REFUSED


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


TIDY = {
    "README.md": "A page.\n",
    "mfbench/one.py": "ONE = 1\n",
    "tests/test_one.py": "",
    "plugins/mfbench_own/__init__.py": "",
    "tests/own/test_own.py": "",
}
UNTIDY = {
    "README.md": ("A page\nthat is to\nhand.\n", "README.md:2: …A page that is to hand."),
    "docs/more/page.md": ("to hand\n", "docs/more/page.md:1: "),
    "suites/own.toml": ("# to hand\n", "suites/own.toml:1: "),
    "plugins/mfbench_check/scaffold/own.jinja": ("to hand\n", "plugins/mfbench_check/scaffold/own.jinja:1: "),
    "mfbench/one.py": ("ONE = 1\n\n# to\n# hand\n", "mfbench/one.py:3: …to hand"),
    "tests/test_one.py": ('MESSAGE = f"{1} to hand"\n', "tests/test_one.py:1: …"),
    "plugins/mfbench_own/a.py": ("def f():\n    found = 1\n", "plugins/mfbench_own/a.py:2: 'found'"),
    "plugins/mfbench_own/b.py": ("def f(told):\n    pass\n", "plugins/mfbench_own/b.py:1: 'told'"),
    "plugins/mfbench_own/c.py": ("\n\nclass Given: ...\n", "plugins/mfbench_own/c.py:3: 'Given'"),
    "tests/own/test_own.py": ("\n" * 611, "tests/own/test_own.py:600: 611 lines"),
    "plugins/mfbench_more/__init__.py": ("", "plugins/mfbench_more/__init__.py:1: tests/more has no tests"),
}


def test_a_tidy_checkout_has_no_finding(tmp_path):
    assert not LINT["findings"](write(tmp_path, TIDY))


@pytest.mark.parametrize("name", UNTIDY)
def test_a_violation_is_reported_with_its_file_and_line(name, tmp_path):
    text, expected = UNTIDY[name]
    (line,) = LINT["findings"](write(tmp_path, {**TIDY, name: text}))
    assert line.startswith(expected)
