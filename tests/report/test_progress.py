"""Following a run: lines for logs, a display on terminals, failures at once."""

import io
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from mfbench.base.console import PlainConsole
from mfbench.model.trials import Status, Trial, TrialResult
from mfbench.report import progress
from mfbench.report.progress import LiveProgress, PlainProgress, Silent, follow, follow_in_notebook
from mfbench.suite.plan import Cost, Forecast, Shard
from mfbench_protocols.splits import RepeatedCV

TRIALS = [Trial(f"{d}{m}{f}", d, m, 0, f, 1) for d in ("iris", "wine") for f in range(3) for m in "AB"]
OK = TrialResult(key="", status=Status.OK, duration=2.0)


def plan(left_out=None, jobs=1, seconds=2.0, startup=0.0):
    """Return a plan whose trials are predicted to take a number of seconds each, or some of each method."""
    amounts = seconds if isinstance(seconds, dict) else dict.fromkeys("AB", seconds)
    costs = SimpleNamespace(of=lambda trial: Cost(amounts[trial.method], 0, 600.0))
    return SimpleNamespace(
        forecast=Forecast(costs, jobs, startup),
        loaded=SimpleNamespace(
            suite=SimpleNamespace(suite=SimpleNamespace(name="own")),
            profile="quick",
            request=("own",),
            protocol=SimpleNamespace(timeout=600.0),
        ),
        trials=TRIALS,
        datasets=dict.fromkeys(["iris", "wine"]),
        methods=dict.fromkeys("AB"),
        protocol=RepeatedCV(3, 1, 0),
        left_out=left_out or {},
        unavailable={},
        shard=None,
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
    return PlainConsole(file=io.StringIO(), width=200)


def lines(console):
    return console.file.getvalue().splitlines()


def test_a_sample_of_a_plan_has_no_factors(console):
    sample = plan()
    sample.trials = TRIALS[:3]
    PlainProgress(console).started(sample, (), sample.trials)
    assert lines(console)[0].startswith("own, profile quick: 3 trials of 2 datasets and 2 methods, about 6 s")


class TestPlain:
    def test_the_start_tells_the_size_and_what_is_left_out(self, console, clock):
        PlainProgress(console).started(plan({"gone[b]": "no network"}), [], TRIALS)
        assert lines(console) == [
            "Left out: gone[b]: no network",
            "own, profile quick: 12 trials (2 datasets × 2 methods × 3 folds), about 24 s on 1 worker",
        ]

    def test_a_share_is_named_beside_the_size_of_the_whole_run(self, console, clock):
        part = plan()
        part.trials, part.shard = TRIALS[:5], Shard(2, 3, "run", "", 12, tuple(range(5)))
        PlainProgress(console).started(part, [], TRIALS[:5])
        assert lines(console)[0] == (
            "own, profile quick: shard 2 of 3 with 5 of 12 trials (2 datasets × 2 methods × 3 folds), about 10 s on "
            "1 worker"
        )

    def test_a_resumed_run_says_how_much_is_done(self, console, clock):
        PlainProgress(console).started(plan(), TRIALS[:4], TRIALS[4:])
        assert lines(console)[0].endswith(", 4 done before, about 16 s on 1 worker")

    def test_the_next_stage_of_a_run_counts_anew(self, console, clock):
        display, first = PlainProgress(console), plan()
        first.trials = TRIALS[:4]
        display.started(first, [], TRIALS[:4])
        display.started(plan(), TRIALS[:4], TRIALS[4:])
        clock.time = 10.0
        display.finished(TRIALS[4], OK)
        assert lines(console)[-1].startswith("5/12 trials")

    def test_a_complete_run_needs_no_time(self, console, clock):
        PlainProgress(console).started(plan(), TRIALS, [])
        assert lines(console)[0].endswith(", 12 done before")

    def test_the_prediction_counts_workers_and_their_start(self, console, clock):
        PlainProgress(console).started(plan(jobs=4, startup=3.0), [], TRIALS)
        assert lines(console)[0].endswith(", about 9 s on 4 workers")

    def test_the_start_names_trials_that_would_be_stopped(self, console, clock):
        PlainProgress(console).started(plan(seconds={"A": 1.0, "B": 700.0}), TRIALS[:2], TRIALS[2:])
        assert lines(console)[1].startswith(
            "Expected to exceed the time limit of 10 min: 5 trials (B on iris and B on wine)."
        )

    def test_a_first_trial_that_compiles_does_not_change_the_estimate_much(self, console, clock):
        display = PlainProgress(console)
        display.started(plan(seconds=0.01), [], TRIALS)
        clock.time = 11.0
        display.finished(TRIALS[0], replace(OK, duration=0.02))
        assert lines(console)[-1] == "1/12 trials, 1 s left, now iris"

    def test_the_estimate_follows_trials_that_take_longer_than_predicted(self, console, clock):
        display = PlainProgress(console)
        display.started(plan(), [], TRIALS)
        for number, trial in enumerate(TRIALS[:6], start=1):
            clock.time = 20.0 * number
            display.finished(trial, replace(OK, duration=20.0))
        left = [line.split(", ")[1] for line in lines(console)[1:]]
        assert left == ["2 min left", "2 min left", "2 min left", "2 min left", "119 s left", "105 s left"]

    def test_methods_count_by_what_they_cost(self, console, clock):
        display = PlainProgress(console)
        display.started(plan(seconds={"A": 1.0, "B": 9.0}), [], TRIALS)
        clock.time = 10.0
        display.finished(TRIALS[1], replace(OK, duration=9.0))
        assert lines(console)[-1].startswith("1/12 trials, 51 s left")

    @pytest.mark.parametrize("status", [Status.CRASH, Status.ERROR, Status.MEMORY])
    @pytest.mark.parametrize("duration", [float("nan"), 1e-9])
    def test_failures_do_not_change_what_the_others_are_expected_to_take(self, status, duration, console, clock):
        display = PlainProgress(console)
        display.started(plan(), [], TRIALS)
        clock.time = 10.0
        display.finished(TRIALS[0], replace(OK, status=status, duration=duration))
        assert lines(console)[-1].startswith("1/12 trials, 22 s left")

    def test_a_timeout_counts_as_long_as_it_took(self, console, clock):
        display = PlainProgress(console)
        display.started(plan(), [], TRIALS)
        clock.time = 600.0
        display.finished(TRIALS[0], replace(OK, status=Status.TIMEOUT, duration=600.0))
        assert lines(console)[-1].startswith("1/12 trials, 55 min left")

    def test_fewer_trials_than_workers_leave_some_idle(self, console, clock):
        display = PlainProgress(console)
        display.started(plan(jobs=8), TRIALS[:9], TRIALS[9:])
        clock.time = 10.0
        display.finished(TRIALS[9], OK)
        assert lines(console)[-1].startswith("10/12 trials, 2 s left")

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
        assert lines(console)[-1] == "9/12 trials, 6 s left, now wine"

    def test_a_slow_trial_is_named_with_its_time_and_the_time_left_grows(self, console, clock):
        display = PlainProgress(console)
        display.started(plan(), [], TRIALS)
        for now in range(1, 311):
            clock.time = float(now)
            display.running([(TRIALS[0], 0.5), (TRIALS[7], now - 1.0)] if now > 12 else [])
        assert [line.split(", ")[0] for line in lines(console)[1:]] == ["0/12 trials"] * 5
        assert [line.split(", ", 2)[2] for line in lines(console)[1:]] == [
            "no result for 10 s",
            "now B on wine for 29 s",
            "now B on wine for 69 s",
            "now B on wine for 2 min",
            "now B on wine for 5 min",
        ]
        left = [line.split(", ")[1] for line in lines(console)[1:]]
        assert left == ["24 s left", "3 min left", "8 min left", "16 min left", "33 min left"]
        clock.time = 320.0
        display.finished(TRIALS[0], OK)
        display.running([])
        assert lines(console)[-1].endswith("now B on wine for 5 min"), "no line follows another at once"
        clock.time = 330.0
        display.finished(TRIALS[7], OK)
        assert lines(console)[-1].endswith(", now wine")

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
    def test_it_counts_datasets_and_failures_and_goes_away(self, clock):
        console = PlainConsole(file=io.StringIO(), width=100, force_terminal=True)
        display = LiveProgress(console)
        display.started(plan(), TRIALS[:2], TRIALS[2:])
        try:
            for trial in TRIALS[2:6]:
                display.finished(trial, OK)
            display.finished(TRIALS[6], failed())
            picture = PlainConsole(file=io.StringIO(), width=100)
            picture.print(display)
        finally:
            display.close()
        text = picture.file.getvalue()
        assert "7/12" in text
        assert "wine" in text
        assert "1/6" in text
        assert "iris" not in text
        assert "1 of 2 datasets done, 1 trials failed" in text
        assert "left 9 s" in text
        assert not display._live.is_started

    def test_the_time_left_passes_while_a_trial_runs(self, clock):
        display = LiveProgress(PlainConsole(file=io.StringIO(), width=100, force_terminal=True))
        display.started(plan(), [], TRIALS)
        try:
            pictures = []
            for now in (0.0, 10.0, 100.0):
                clock.time = now
                picture = PlainConsole(file=io.StringIO(), width=100)
                picture.print(display)
                pictures.append(picture.file.getvalue())
        finally:
            display.close()
        assert [text.split("left ")[1].split("\n")[0].strip() for text in pictures] == ["24 s", "14 s", "1 s"]

    def test_trials_that_run_for_long_are_named_and_the_time_left_grows(self, clock):
        display = LiveProgress(PlainConsole(file=io.StringIO(), width=100, force_terminal=True))
        display.started(plan(), [], TRIALS)
        try:
            clock.time = 90.0
            display.running([(TRIALS[0], 5.0), (TRIALS[7], 80.0)])
            clock.time = 95.0
            picture = PlainConsole(file=io.StringIO(), width=100)
            picture.print(display)
            display.finished(TRIALS[7], OK)
            after = PlainConsole(file=io.StringIO(), width=100)
            after.print(display)
        finally:
            display.close()
        text = picture.file.getvalue()
        assert "now B on wine for 85 s" in text and "A on iris" in text
        assert "B on wine" not in after.file.getvalue()
        assert int(text.split("left ")[1].split(" min")[0]) > 2

    def test_closing_before_the_start_is_harmless(self, console):
        LiveProgress(console).close()


class TestFollow:
    @pytest.fixture(autouse=True)
    def clean(self, monkeypatch):
        for name in ("NO_COLOR", "CI"):
            monkeypatch.delenv(name, raising=False)

    def test_a_terminal_gets_a_display(self):
        assert type(follow(PlainConsole(file=io.StringIO(), force_terminal=True))) is LiveProgress

    def test_a_pipe_gets_lines(self):
        assert type(follow(PlainConsole(file=io.StringIO(), force_terminal=False))) is PlainProgress

    @pytest.mark.parametrize(("name", "value"), [("NO_COLOR", ""), ("NO_COLOR", "1"), ("CI", "true")])
    def test_so_does_a_terminal_that_asks_for_it(self, monkeypatch, name, value):
        monkeypatch.setenv(name, value)
        assert type(follow(PlainConsole(file=io.StringIO(), force_terminal=True))) is PlainProgress


def test_a_notebook_gets_lines_of_text(monkeypatch, capsys):
    notebook = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    display = follow_in_notebook()
    display.started(plan(), [], TRIALS)
    assert capsys.readouterr().out.startswith("own, profile quick: 12 trials")
    for session in (None, SimpleNamespace()):  # IPython in a script, and in a terminal
        monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda session=session: session))
        assert type(follow_in_notebook()) is Silent
    monkeypatch.delitem(sys.modules, "IPython")
    assert type(follow_in_notebook()) is Silent


def test_silence_says_nothing(capsys):
    silent = Silent()
    silent.started(plan({"gone": "x"}), [], TRIALS)
    silent.running([(TRIALS[0], 500.0)])
    silent.finished(TRIALS[0], failed())
    silent.close()
    assert capsys.readouterr() == ("", "")


def test_a_message_is_shown_without_control_characters(console):
    follower = PlainProgress(console)
    follower.started(plan(), [], TRIALS)
    follower.finished(TRIALS[0], failed("[bold]a\x1b[31m\r\u202eb"))
    assert "[bold]a[31m b" in console.file.getvalue()
    assert not {"\x1b", "\r", "\u202e"} & set(console.file.getvalue())
