"""The command `mfbench`: errors become one sentence and an exit code."""

import io
import os
import signal
import subprocess
import sys

import pytest

import mfbench
from mfbench.cli import entry, main


def leave(*words):
    with pytest.raises(SystemExit) as exit_:
        main(list(words))
    return int(exit_.value.code or 0)


def test_version(capsys):
    assert leave("--version") == 0
    assert capsys.readouterr().out == f"mfbench {mfbench.__version__}\n"


def test_a_mistake_is_one_sentence(capsys):
    assert leave("report", "a", "--json", "--csv") == 2
    assert (
        capsys.readouterr().err
        == "mfbench: choose one of --json, --csv, --curves, --md, --latex, --html and --figure\n"
    )


def test_a_name_that_no_file_can_have(subtests, capsys):
    for words in ["suite NAME.toml", "datasets import NAME.csv", "datasets list --data-dir NAME", "report NAME"]:
        with subtests.test(words=words):
            with pytest.raises(SystemExit) as ended:
                main(words.replace("NAME", "x" * 300).split())
            lines = capsys.readouterr().err.splitlines()
            assert ended.value.code == 2
            assert len(lines) == 1 and "xxx" in lines[0]
            if sys.version_info < (3, 14):  # from then on, Path.is_file() is False instead of an error
                assert "too long" in lines[0] and len(lines[0]) < 200


def test_an_unexpected_error_is_a_bug(capsys, monkeypatch):
    def broken(**_):
        raise RuntimeError("no luck")

    monkeypatch.setattr("mfbench_catalog.cli.load_registry", broken)
    assert leave("plugins") == 1
    assert "unexpected RuntimeError: no luck. This is a bug" in capsys.readouterr().err
    with pytest.raises(RuntimeError):
        main(["plugins", "--debug"])


def test_an_interrupt_has_its_own_code(monkeypatch):
    def interrupted(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr("mfbench_catalog.cli.load_registry", interrupted)
    assert leave("plugins") == 130


def test_another_interrupt_at_the_exit_shows_no_traceback():
    code = (
        "import atexit, os, signal; from mfbench.cli import entry\n"
        "entry.app = lambda words: atexit.register(os.kill, os.getpid(), signal.SIGINT)\n"
        "entry.main([])"
    )
    done = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_character_that_the_terminal_cannot_show_is_replaced(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr("mfbench_catalog.cli.load_registry", lambda **_: sys.stdout.write("→é\ud800"))
    leave("plugins")
    stream.flush()
    assert stream.buffer.getvalue().startswith(b"\\u2192\\xe9\\ud800")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_termination_is_an_interrupt_but_an_ignored_signal_stays_ignored():
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        entry._interrupt_on_termination()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
            signal.pause()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
