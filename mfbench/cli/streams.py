"""The standard streams of the command: closed, full or without a reader, and unable to show every sign."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Any, TextIO

from mfbench.errors import ExitCode, MfbenchError


class OutputError(MfbenchError):
    """The standard output cannot be written to, such as that of a full disk."""


class ReaderGoneError(OutputError):
    """The reader of our output has read enough, as in ``mfbench plugins | head``."""

    exit_code = ExitCode.OK


class _Stream(io.FileIO):
    """The file of a standard stream, into which nothing is written after an error, so that Python can end in peace."""

    is_output = is_needed = True

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            with Path(os.devnull).open("wb") as nowhere:
                os.dup2(nowhere.fileno(), self.fileno())
            if not self.is_output:  # there is no other place to report it, and the exit code remains
                return len(data)
            has_gone = isinstance(error, BrokenPipeError)
            message = "cannot write to the standard output: "
            message += "its reader has closed it" if has_gone else str(error.strerror)
            if self.is_needed:
                raise (ReaderGoneError if has_gone else OutputError)(message) from None
            sys.stderr.write(f"mfbench: {message}; the command goes on without it\n")
            return len(data)


def prepare_streams() -> None:
    """Replace the standard streams by those that end neither a run nor its results, whatever they lead to.

    A stream that the caller has closed leads nowhere: otherwise the next file that is opened would get its number, and
    with it whatever is printed.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            nowhere = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - the process closes it
            os.set_inheritable(nowhere.fileno(), True)  # as streams are: a child would have the same trouble
            setattr(sys, name, nowhere)
        elif mode == "w" and isinstance(stream, io.TextIOWrapper):
            # Signs that the encoding lacks are written as escapes.
            stream.reconfigure(errors="backslashreplace")
            if isinstance(getattr(stream.buffer, "raw", stream.buffer), io.FileIO):
                setattr(sys, name, _guarded(stream, is_output=name == "stdout"))


def outlive_output() -> None:
    """From now on, go on without the standard output if it fails: the work of this command is not what it prints."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    if isinstance(raw, _Stream):
        raw.is_needed = False


def write_document(text: str) -> None:
    """Write a document to the standard output: in UTF-8 as to a file, unless it is a terminal.

    Parameters
    ----------
    text : str
        Such as HTML or JSON, whose readers expect UTF-8 whatever the encoding of the terminal.
    """
    sys.stdout.flush()
    if sys.stdout.isatty() or not hasattr(sys.stdout, "buffer"):
        sys.stdout.write(text)
    else:
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))


def _guarded(stream: io.TextIOWrapper, *, is_output: bool) -> TextIO:
    stream.flush()
    raw = _Stream(stream.fileno(), "w", closefd=False)
    raw.is_output = is_output
    is_prompt = stream.line_buffering or stream.write_through or stream.isatty() or not is_output
    buffer = io.BufferedWriter(raw)
    return io.TextIOWrapper(buffer, stream.encoding, "backslashreplace", line_buffering=is_prompt)
