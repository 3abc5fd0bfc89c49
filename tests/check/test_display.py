"""The report of a check run: it can be read at 80 columns, and texts of plugins do nothing to the terminal."""

import io

import pytest
from rich.console import Console

from mfbench_check.catalog import all_checks
from mfbench_check.display import CheckOutcome, CheckProgress, CheckReport, CheckVerdict, show_catalog, show_checks

IDS = [check.id for check in all_checks() if "selector" in check.kinds]


def verdict(outcome=CheckOutcome.PASS, subject="relieff", kind="selector", check="fit", **texts):
    return CheckVerdict(subject=subject, kind=kind, package="p", check=check, outcome=outcome, **texts)


def shown(*verdicts, width=80):
    console = Console(file=io.StringIO(), width=width)
    show_checks(CheckReport(verdicts, seconds=2.0), console)
    return console.file.getvalue()


FAILED = {"expected": "finite weights", "seen": "the weight of feature 5 is nan", "snippet": "if 1:\n    assert False"}


def test_a_failure_has_what_was_expected_what_was_seen_and_the_code_with_its_indentation():
    text = shown(verdict(), verdict(CheckOutcome.FAIL, check="importances-finite", **FAILED))
    lines = [line.strip() for line in text.splitlines()]
    assert "✗ relieff (selector): importances-finite" in lines
    assert "expected  finite weights" in lines
    assert "seen      the weight of feature 5 is nan" in lines
    assert "        assert False" in text
    assert lines[-1] == "2 checks of 1 subject: 1 failed, 1 passed, in 2.0 s, seed 0"


def test_a_table_counts_outcomes_by_group_and_names_what_failed():
    text = shown(
        verdict(),
        verdict(CheckOutcome.FAIL, check="importances-finite"),
        verdict(CheckOutcome.EXPECTED, check="factory"),
    )
    lines = text.splitlines()
    row = next(index for index, line in enumerate(lines) if "1✓ 1✗ 1!" in line)
    names = lines[row + 1]
    assert lines[row].split()[0] == "relieff"
    assert names.strip() == "✗ importances-finite"


@pytest.mark.parametrize("longest", [max(IDS, key=len)])
def test_no_name_of_a_check_is_folded_at_80_columns(longest):
    verdicts = [verdict(CheckOutcome.FAIL if name == longest else CheckOutcome.PASS, check=name) for name in IDS]
    text = shown(*verdicts)
    assert f"{longest} " in text  # the mark may be in the line above
    assert all(group in text for group in ("contract", "determinism", "growth"))
    assert max(map(len, text.splitlines())) <= 80


def test_each_kind_has_a_table():
    text = shown(verdict(), verdict(kind="dataset", subject="iris", check="dataset-loads"))
    assert "Selectors (1)" in text
    assert "Datasets (1)" in text


def test_checks_with_the_same_reason_are_one_line():
    text = shown(
        *(verdict(CheckOutcome.SKIPPED, subject=name, check="growth", reason="slow here") for name in "abcdefg"),
        *(verdict(CheckOutcome.SKIPPED, check=name, reason="'fit' does not pass") for name in ("support", "seed")),
    )
    assert "- growth: slow here (a, b, c, d, e and 2 more)" in text
    assert "- 2 checks: 'fit' does not pass (relieff)" in text


def test_a_declared_failure_has_its_reason():
    assert "- seed: it samples rows (relieff)" in shown(
        verdict(CheckOutcome.EXPECTED, check="seed", reason="it samples rows")
    )


def test_the_kind_is_named_only_if_a_name_is_both():
    skipped = [verdict(CheckOutcome.SKIPPED, kind=kind, reason="slow") for kind in ("selector", "classifier")]
    assert "(relieff (selector), relieff (classifier))" in shown(*skipped, width=160)


def test_nothing_to_check_says_what_to_do():
    assert "--package mfbench" in shown(width=160)


HOSTILE = "[bold]a[/bold]\x1b[31m\rb\x07\u202e"


def test_texts_of_plugins_have_neither_markup_nor_control_characters():
    texts = {"reason": HOSTILE, "expected": HOSTILE, "seen": HOSTILE, "snippet": f"  {HOSTILE}"}
    text = shown(*(verdict(outcome, subject=HOSTILE, check=HOSTILE, **texts) for outcome in CheckOutcome))
    assert "[bold]a[/bold]" in text
    assert not set(text) & set("\x1b\r\x07\u202e")


def test_growth_is_reported_though_it_never_fails():
    assert "- relieff: time grows as rows^2.0" in shown(verdict(check="growth", reason="time grows as rows^2.0"))


def test_the_list_of_checks_has_each_with_its_first_sentence():
    console = Console(file=io.StringIO(), width=160)
    show_catalog(all_checks(), console)
    text = console.file.getvalue()
    assert all(name in text for name in IDS)
    assert "No weight is NaN or infinite." in text


class TestProgress:
    def test_without_a_terminal_a_line_is_printed_from_time_to_time(self, monkeypatch):
        now = [0.0]
        monkeypatch.setattr("mfbench_check.display.time.monotonic", lambda: now[0])
        console = Console(file=io.StringIO(), width=80)
        progress = CheckProgress(console)
        progress(verdict(), 3)
        now[0] = 11.0
        progress(verdict(CheckOutcome.FAIL), 3)
        progress(verdict(), 3)
        progress.close()
        assert console.file.getvalue() == "2/3 checks, 1 failed, now relieff (selector)\n"

    def test_on_a_terminal_a_bar_counts(self, monkeypatch):
        monkeypatch.delenv("NO_COLOR", raising=False)
        monkeypatch.delenv("CI", raising=False)
        console = Console(file=io.StringIO(), width=80, force_terminal=True)
        progress = CheckProgress(console)
        progress(verdict(CheckOutcome.FAIL), 2)
        progress(verdict(), 2)
        progress.close()
        assert "2/2" in console.file.getvalue()
        assert "1 failed" in console.file.getvalue()
