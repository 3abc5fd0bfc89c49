"""Faults of a run on one machine: after each, a resume gives the results of an undisturbed run, every trial once."""

import itertools
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time

import pytest
from hosts import SLOW_PLUGIN
from undisturbed import exactly_once, same_results, stored_trials

from mfbench import load_run
from processes import alive, processes_of, wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
WORDS = ("suite", "own.toml", "--jobs", "2")
TRIALS_OF_A_METHOD = 6


@pytest.fixture
def slow_suite(host, small_suite):
    """Return a function that writes a suite with so many slow methods, one quick one, and a selector to share."""

    def write(n=4, seconds=0.2):
        host.plugin("slow_plugin", SLOW_PLUGIN)
        methods = {f"S{i}": f"slow(seconds={seconds + i / 100:g})" for i in range(n)}
        small_suite(host, {"1NN": "knn(n_neighbors=1)", **methods})
        return TRIALS_OF_A_METHOD * (n + 1)

    return write


def stored(host):
    folders = list((host.folder / "reports").glob("own/*"))
    return stored_trials(folders[0]) if folders else 0


def like_undisturbed(host, *options):
    """Resume a run, and compare it with one that nothing disturbs, not even workers."""
    resumed = host.run(*WORDS, *options)
    assert resumed.returncode == 0, resumed.stderr
    host.in_process = True
    assert host.run(*WORDS, "--out", "other").returncode == 0
    exactly_once(host.run_folder())
    (other,) = (host.folder / "other" / "own").iterdir()
    same_results(host.run_folder(), other)
    return resumed.stdout


def begun(host, n=3):
    """Start a run, and wait until it has stored so many trials more than before."""
    before = stored(host)
    process = host.start(*WORDS, start_new_session=True, preexec_fn=_hears_signals)
    wait_for(lambda: stored(host) >= before + n, process)
    return process


def _hears_signals():
    """Undo what a shell in the background or `nohup` makes of the signals of its children."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def killed(victims):
    for victim in victims:
        os.kill(victim, signal.SIGSTOP)  # all at once: none may react to the end of another
    for victim in victims:
        os.kill(victim, signal.SIGKILL)


def nothing_left(pids):
    wait_for(lambda: not set(pids) & set(alive()), seconds=30)


def test_everything_is_killed_at_once(host, slow_suite):
    total = slow_suite(1)
    process = begun(host, 2)
    family = processes_of(process.pid, "all")
    assert len(family) == 6, "the main process, the server, and two monitors with a worker each"
    killed(family)
    process.communicate()
    nothing_left(family)
    assert 0 < stored(host) < total
    assert "done before" in like_undisturbed(host)


@pytest.mark.nightly(reason="three runs of the command line")
def test_the_main_process_is_killed(host, slow_suite):
    slow_suite()
    process = begun(host)
    family = processes_of(process.pid, "all")
    process.kill()
    process.communicate()
    nothing_left(family)
    like_undisturbed(host)


@pytest.mark.nightly(reason="three runs of the command line")
@pytest.mark.parametrize("place", ["server", "monitor", "worker"])
def test_a_process_below_the_main_process_is_killed(host, slow_suite, place):
    slow_suite()
    process = begun(host)
    family = processes_of(process.pid, "all")
    killed(processes_of(process.pid, place)[:1])
    out, err = process.communicate(timeout=300)
    nothing_left(family)
    assert process.returncode in (0, 1), err  # whether a trial ran in what was killed is a matter of moments
    assert "Traceback" not in err
    statuses = load_run(host.run_folder()).trials["status"].value_counts().to_dict()
    lost = statuses.pop("crash", 0)
    assert lost <= (2 if place == "server" else 1), "no other trial is lost"
    assert set(statuses) == {"ok"}, out
    like_undisturbed(host, "--retry-failed")


@pytest.mark.nightly(reason="three runs of the command line")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_the_run_in_order(host, slow_suite, number):
    slow_suite()
    process = begun(host)
    family = processes_of(process.pid, "all")
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal does: to the whole group
    else:
        process.send_signal(number)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert "To resume, run: mfbench suite own.toml --jobs 2" in out
    assert "Not run yet" in out and "1NN" in out
    assert "Traceback" not in err
    nothing_left(family)
    assert set(load_run(host.run_folder()).trials["status"].dropna()) == {"ok"}
    like_undisturbed(host)


@pytest.mark.nightly(reason="several runs of the command line")
@pytest.mark.parametrize("kills", [2, 10])
def test_killed_runs_lose_nothing_and_repeat_nothing(host, slow_suite, kills):
    total = slow_suite(5 * kills)
    generator = random.Random(kills)
    grown = [0]
    for _ in range(kills):
        # Wait until this start has stored something, then kill at a random moment: the main process alone.
        process = begun(host, 1)
        family = processes_of(process.pid, "all")
        time.sleep(generator.random())
        process.send_signal(signal.SIGKILL)
        process.communicate()
        nothing_left(family)
        grown.append(stored(host))
    assert grown == sorted(set(grown)), "each start went on from where the last one was killed"
    assert grown[-1] < total
    like_undisturbed(host)
    assert stored(host) == total
    assert host.run("report", "own", "--csv").stdout == host.run("report", "other/own", "--csv").stdout


@pytest.mark.nightly(reason="several runs of the command line")
def test_a_second_run_in_the_same_folder_stops(host, slow_suite):
    slow_suite()
    hold = host.folder / "hold"
    hold.touch()
    first = host.start(*WORDS)
    wait_for((host.folder / "fitting").exists, first)
    second = host.run(*WORDS)
    hold.unlink()
    assert second.returncode == 1
    assert len(second.stderr.splitlines()) == 1
    assert "another mfbench is running in" in second.stderr
    first.communicate(timeout=300)
    assert first.returncode == 0
    like_undisturbed(host)


@pytest.mark.nightly(reason="several runs of the command line")
def test_a_full_disk_is_one_sentence_and_keeps_what_was_stored(host, slow_suite):
    slow_suite(8, 0.0)

    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (110_000, 110_000))

    result = host.run_process(*WORDS, preexec_fn=little_room)
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert len(result.stderr.splitlines()) == 1 and "earlier results stay readable" in result.stderr
    n = stored(host)
    assert host.run("report", "own").returncode == 0
    assert f"{n} done before" in like_undisturbed(host) or n == 0


@pytest.mark.nightly(reason="several runs of the command line")
def test_a_full_file_system_is_one_sentence(host, slow_suite):
    slow_suite(8, 0.0)
    place = host.folder / "reports"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=192k", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("this user cannot mount a small file system")
    try:
        result = host.run_process(*WORDS)
        assert result.returncode == 1
        assert len(result.stderr.splitlines()) == 1 and "Traceback" not in result.stderr
        assert "full" in result.stderr or "No space" in result.stderr
        subprocess.run(["mount", "-o", "remount,size=100m", str(place)], check=True)
        like_undisturbed(host)
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.nightly(reason="several runs of the command line")
@pytest.mark.parametrize("room", [1_000, 30_000, 60_000, 90_000, 400_000])
def test_a_disk_that_is_full_from_the_start_is_one_sentence(host, room):
    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    words = ["suite", "uci", "--only", "wdbc", "--only", "DUM", "--only", "1NN", "--jobs", "1"]
    result = host.run_process(*words, preexec_fn=little_room)
    assert result.returncode == (0 if room == 400_000 else 1), result.stderr
    assert "Traceback" not in result.stderr and "unexpected" not in result.stderr
    told = host.run("report", "uci")
    assert "unexpected" not in told.stderr
    assert host.run(*words).returncode == 0
    exactly_once(host.run_folder("uci"))


@pytest.mark.nightly(reason="several runs of the command line")
def test_a_run_folder_that_is_removed_ends_the_run(host, slow_suite):
    slow_suite()
    process = begun(host, 1)
    shutil.rmtree(host.folder / "reports")
    _, err = process.communicate(timeout=300)
    assert process.returncode == 1 and "was removed" in err and "Traceback" not in err
    like_undisturbed(host)


@pytest.mark.nightly(reason="two runs of the command line and one in this process")
def test_a_clock_that_is_set_back_makes_no_difference(host, slow_suite, monkeypatch):
    """The time of day jumps back by an hour whenever it is read, and the files of the run are from tomorrow."""
    from mfbench.api import run_suite

    total = slow_suite(1)
    process = begun(host, 2)
    process.send_signal(signal.SIGTERM)
    process.communicate()
    folder, tomorrow = host.run_folder(), time.time() + 86_400
    for path in (*folder.iterdir(), folder):
        os.utime(path, (tomorrow, tomorrow))
    jumps = itertools.count()
    monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", host.environment["MFBENCH_LOAD_PLUGINS"])
    monkeypatch.syspath_prepend(str(host.folder))
    monkeypatch.chdir(host.folder)
    with monkeypatch.context() as patch:
        real = time.time
        patch.setattr(time, "time", lambda: real() - 3600 * next(jumps))
        run = run_suite("own.toml", jobs=2, out="reports", budget="1h")
    assert len(run.trials) == total and not run.n_pending
    like_undisturbed(host)
