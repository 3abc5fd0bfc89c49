"""The standard streams of the command: closed, full or without a reader, and unable to show every sign."""

from __future__ import annotations

import codecs
import io
import os
import sys
from pathlib import Path
from typing import Any, TextIO

from mfbench.errors import ExitCode, MfbenchError

_HANDLER = "mfbench-legible"
_LEGIBLE = {
    "±": "+-", "≈": "~", "×": "x", "–": "-", "−": "-", "→": "->", "…": "...", "·": ".", "≥": ">=", "≤": "<=",
    "≫": ">>", "≪": "<<", "α": "alpha", "χ": "chi", "²": "^2", "µ": "u", "▲": "^", "▼": "v", "●": "*", "█": "#",
    "✓": "+", "✗": "x", "─": "-", "│": "|", "├": "+", "┤": "+", "┐": "+", "┘": "+",
}  # fmt: skip


class OutputError(MfbenchError):
    """The standard output cannot be written to, such as that of a full disk."""


class ReaderGoneError(OutputError):
    """The reader of our output has read enough, as in ``mfbench plugins | head``."""

    exit_code = ExitCode.OK


class _Output(io.FileIO):
    """A file of which an error is a sentence; afterwards nothing is written, so that Python can end in peace."""

    is_needed = True

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            _discard(self.fileno())
            has_gone = isinstance(error, BrokenPipeError)
            reason = "its reader has closed it" if has_gone else error.strerror
            message = f"cannot write to the standard output: {reason}"
            if self.is_needed:
                raise (ReaderGoneError if has_gone else OutputError)(message) from None
            sys.stderr.write(f"mfbench: {message}; the command goes on without it\n")
            return len(data)


class _Complaints(io.FileIO):
    """A file of which errors are ignored: there is no other place to report them, and the exit code remains."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError:  # see the docstring of the class
            _discard(self.fileno())
            return len(data)


def prepare_streams() -> None:
    """Replace the standard streams by those that end neither a run nor its results, whatever they lead to.

    A stream that the caller has closed leads nowhere: otherwise the next file that is opened would get its number, and
    with it whatever is printed.
    """
    codecs.register_error(_HANDLER, _legible)
    for name, mode, kind in (("stdin", "r", None), ("stdout", "w", _Output), ("stderr", "w", _Complaints)):
        stream = getattr(sys, name)
        if stream is None:
            nowhere = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - the process closes it
            os.set_inheritable(nowhere.fileno(), True)  # as streams are: a child would have the same trouble
            setattr(sys, name, nowhere)
        elif kind is not None and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_HANDLER)
            if isinstance(getattr(stream.buffer, "raw", stream.buffer), io.FileIO):
                setattr(sys, name, _guarded(stream, kind))


def outlive_output() -> None:
    """From now on, go on without the standard output if it fails: the work of this command is not what it prints."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    if isinstance(raw, _Output):
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


def _guarded(stream: io.TextIOWrapper, kind: type[io.FileIO]) -> TextIO:
    stream.flush()
    raw = kind(stream.fileno(), "w", closefd=False)
    is_prompt = stream.line_buffering or stream.write_through or stream.isatty() or kind is _Complaints
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors=_HANDLER,
        line_buffering=is_prompt,
    )


def _discard(number: int) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)


def _legible(error: UnicodeError) -> tuple[str | bytes, int]:
    """Return the signs of reports in a form that every encoding has, and all others as escapes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    text = "".join(_LEGIBLE.get(sign) or sign.encode("ascii", "backslashreplace").decode() for sign in signs)
    return text, error.end
