"""Following a run: lines for logs, a display on terminals, failures at once."""

import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from mfbench.report import progress
from mfbench.report.progress import LiveProgress, PlainProgress, Silent, follow
from mfbench.suite.protocols import RepeatedCV
from mfbench.trials import Status, Trial, TrialResult

TRIALS = [Trial(f"{d}{m}{f}", d, m, 0, f, 1) for d in ("iris", "wine") for f in range(3) for m in "AB"]
OK = TrialResult(key="", status=Status.OK)


def plan(left_out=None):
    return SimpleNamespace(
        loaded=SimpleNamespace(
            suite=SimpleNamespace(suite=SimpleNamespace(name="own")), profile="quick", request=("own",)
        ),
        trials=TRIALS,
        datasets=dict.fromkeys(["iris", "wine"]),
        methods=dict.fromkeys("AB"),
        protocol=RepeatedCV(3, 1, 0),
        left_out=left_out or {},
        unavailable={},
    )


def failed(message="no way"):
    return TrialResult(key="", status=Status.TIMEOUT, error_type="TimeoutError", error_message=message)


@pytest.fixture
def clock(monkeypatch):
    now = SimpleNamespace(time=0.0)
    monkeypatch.setattr(progress.time, "monotonic", lambda: now.time)
    return now


@pytest.fixture
def console():
    return Console(file=io.StringIO(), width=200)


def lines(console):
    return console.file.getvalue().splitlines()


class TestPlain:
    def test_the_start_tells_the_size_and_what_is_left_out(self, console, clock):
        PlainProgress(console).started(plan({"gone[b]": "no network"}), [], TRIALS)
        assert lines(console) == [
            "Left out: gone[b]: no network",
            "own, profile quick: 12 trials (2 datasets × 2 methods × 3 folds)",
        ]

    def test_a_resumed_run_says_how_much_is_done(self, console, clock):
        PlainProgress(console).started(plan(), TRIALS[:4], TRIALS[4:])
        assert lines(console)[0].endswith(", 4 done before")

    def test_a_line_comes_after_some_seconds_and_at_the_end(self, console, clock):
        display = PlainProgress(console)
        display.started(plan(), [], TRIALS)
        for number, trial in enumerate(TRIALS, start=1):
            clock.time = 2.0 * number
            display.finished(trial, OK)
        assert lines(console)[1:] == [
            "5/12 trials, 14 s left, now iris",
            "10/12 trials, 4 s left, now wine",
            "12/12 trials, 0 s left, now wine",
        ]

    def test_what_was_done_before_does_not_make_it_look_fast(self, console, clock):
        display = PlainProgress(console)
        display.started(plan(), TRIALS[:8], TRIALS[8:])
        clock.time = 10.0
        display.finished(TRIALS[8], OK)
        assert lines(console)[-1] == "9/12 trials, 30 s left, now wine"

    def test_failures_are_told_at_once_but_not_without_end(self, console, clock):
        display = PlainProgress(console)
        display.started(plan(), [], TRIALS)
        for trial in TRIALS:
            display.finished(trial, failed("[bold]why"))
        printed = [line for line in lines(console) if line.startswith("timeout: ")]
        assert len(printed) == 5
        assert printed[0] == "timeout: A on iris, repeat 0, fold 0: TimeoutError: [bold]why"
        assert lines(console)[-1] == "12/12 trials, 0 s left, 12 failed, now wine"


class TestLive:
    def test_it_counts_datasets_and_failures_and_goes_away(self):
        console = Console(file=io.StringIO(), width=100, force_terminal=True)
        display = LiveProgress(console)
        display.started(plan(), TRIALS[:2], TRIALS[2:])
        try:
            for trial in TRIALS[2:6]:
                display.finished(trial, OK)
            display.finished(TRIALS[6], failed())
            picture = Console(file=io.StringIO(), width=100)
            picture.print(display)
        finally:
            display.close()
        text = picture.file.getvalue()
        assert "7/12" in text
        assert "wine" in text
        assert "1/6" in text
        assert "iris" not in text
        assert "1 of 2 datasets done, 1 trials failed" in text
        assert not display._live.is_started

    def test_closing_before_the_start_is_harmless(self, console):
        LiveProgress(console).close()


class TestFollow:
    @pytest.fixture(autouse=True)
    def clean(self, monkeypatch):
        for name in ("NO_COLOR", "CI"):
            monkeypatch.delenv(name, raising=False)

    def test_a_terminal_gets_a_display(self):
        assert type(follow(Console(file=io.StringIO(), force_terminal=True))) is LiveProgress

    def test_a_pipe_gets_lines(self):
        assert type(follow(Console(file=io.StringIO(), force_terminal=False))) is PlainProgress

    @pytest.mark.parametrize(("name", "value"), [("NO_COLOR", ""), ("NO_COLOR", "1"), ("CI", "true")])
    def test_so_does_a_terminal_that_asks_for_it(self, monkeypatch, name, value):
        monkeypatch.setenv(name, value)
        assert type(follow(Console(file=io.StringIO(), force_terminal=True))) is PlainProgress


def test_silence_says_nothing(capsys):
    silent = Silent()
    silent.started(plan({"gone": "x"}), [], TRIALS)
    silent.finished(TRIALS[0], failed())
    silent.close()
    assert capsys.readouterr() == ("", "")


def test_a_message_is_shown_without_control_characters(console):
    follower = PlainProgress(console)
    follower.started(plan(), [], TRIALS)
    follower.finished(TRIALS[0], failed("[bold]a\x1b[31m\r\u202eb"))
    assert "[bold]a[31m b" in console.file.getvalue()
    assert not {"\x1b", "\r", "\u202e"} & set(console.file.getvalue())
