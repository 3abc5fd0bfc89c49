"""The standard streams: full, closed, without a reader, in another encoding."""

import io
import os
import subprocess
import sys

import pytest

from mfbench.cli.entry import ReaderGoneError, outlive_output, prepare_streams, write_document
from mfbench.errors import ExitCode


def command(words, redirection="", **environment):
    """Run a command in a shell, with a redirection of its streams."""
    code = f"import sys; sys.argv[1:] = {words.split()!r}; from mfbench.cli import main; main()"
    return subprocess.run(
        ["sh", "-c", f'"$0" -c "$1" {redirection}', sys.executable, code],
        env={**os.environ, **environment}, capture_output=True,
    )  # fmt: skip


def piped(monkeypatch, encoding):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    prepare_streams()
    return stream


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no full device")  # noqa: PTH110
def test_a_full_disk_is_one_sentence(subtests):
    """A short text, whose write fails at the end, and long ones, with and without a buffer."""
    for words, unbuffered in [("--version", ""), ("--version", "1"), ("plugins", "1"), ("suites --schema", "")]:
        with subtests.test(words=words, unbuffered=unbuffered):
            done = command(words, ">/dev/full", PYTHONUNBUFFERED=unbuffered)
            message = b"mfbench: cannot write to the standard output: No space left on device\n"
            assert (done.returncode, done.stderr) == (ExitCode.FAILED, message)


def test_a_reader_that_has_gone_is_no_failure(subtests):
    for words in ["--version", "plugins"]:
        with subtests.test(words=words):
            done = command(words, "| true; exit 7")
            assert (done.returncode, done.stderr) == (7, b"")
            reading, writing = os.pipe()
            os.close(reading)
            code = f"from mfbench.cli import main; main({words.split()!r})"
            with open(writing, "wb") as pipe:  # noqa: PTH123
                done = subprocess.run([sys.executable, "-c", code], stdout=pipe, stderr=subprocess.PIPE)
            assert (done.returncode, done.stderr) == (ExitCode.OK, b"")


def test_a_closed_stream_leads_nowhere(subtests):
    for redirection in [">&-", "<&- >&- 2>&-", "2>&-"]:
        with subtests.test(redirection=redirection):
            done = command("plugins", redirection)
            assert (done.returncode, done.stderr) == (ExitCode.OK, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no full device")  # noqa: PTH110
def test_the_exit_code_survives_a_complaint_that_nobody_hears():
    for redirection in ("2>&-", "2>/dev/full"):
        assert command("plugins --tag margins", redirection).returncode == ExitCode.USAGE, redirection


def test_every_encoding_shows_a_report(monkeypatch):
    for encoding in ("ascii", "cp1252", "latin-1", "utf-8"):
        stream = piped(monkeypatch, encoding)
        sys.stdout.write("96.0 ± 1.0 ≈ → \u65e5\ud800")
        sys.stdout.flush()
        text = stream.buffer.getvalue().decode(encoding)
        expected = "96.0 ± 1.0 ≈ → \u65e5\ud800"
        assert text == expected.encode(encoding, "backslashreplace").decode(encoding)
        assert ("±" in text) == (encoding != "ascii")


def test_a_document_is_utf_8_whatever_the_encoding(monkeypatch):
    stream = piped(monkeypatch, "ascii")
    sys.stdout.write("first ")
    write_document("±\ud800")
    assert stream.buffer.getvalue() == "first ±\\ud800".encode()


@pytest.mark.parametrize("failure", ["a closed pipe", "a full disk"])
def test_work_goes_on_without_its_output(failure, monkeypatch, capsys):
    if failure == "a closed pipe":
        reading, number = os.pipe()
        os.close(reading)
    else:
        number = os.open("/dev/full", os.O_WRONLY)
    with open(number, "w") as stream:  # noqa: PTH123
        monkeypatch.setattr(sys, "stdout", stream)
        prepare_streams()
        outlive_output()
        for _ in range(3):
            print("progress", flush=True)
    reason = {"a closed pipe": "its reader has closed it", "a full disk": "No space left on device"}[failure]
    message = f"mfbench: cannot write to the standard output: {reason}; the command goes on without it\n"
    assert capsys.readouterr().err == message


def test_a_command_that_works_ends_with_the_code_of_its_work():
    assert command("datasets pull wine import:none", ">/dev/full").returncode == ExitCode.FAILED
    done = command("datasets pull wine", ">/dev/full")
    assert (done.returncode, b"goes on without it" in done.stderr) == (ExitCode.OK, True)


def test_nothing_is_complained_about_for_a_reader_that_has_gone():
    assert ReaderGoneError("gone").exit_code is ExitCode.OK
