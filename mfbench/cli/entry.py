"""The command ``mfbench``: it turns errors into one sentence and an exit code."""

from __future__ import annotations

import atexit
import errno
import signal
import sys
import warnings
from typing import Annotated, NoReturn

import typer

from mfbench.cli.commands import CommandGroup
from mfbench.cli.streams import ReaderGoneError, prepare_streams
from mfbench.errors import ExitCode, MfbenchError

app = typer.Typer(
    name="mfbench",
    cls=CommandGroup,
    help="Benchmark feature selectors and classifiers: compare their scores, time and memory on many datasets.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(value: bool) -> None:
    if value:
        from mfbench import __version__

        sys.stdout.write(f"mfbench {__version__}\n")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Benchmark feature selectors and classifiers: compare their scores, time and memory on many datasets."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit with an `ExitCode`.

    Parameters
    ----------
    arguments : list of str or None, default=None
        Words after the command's name; None uses those of the process.
    """
    words = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in words
    warnings.showwarning = _show_warning  # type: ignore[assignment]
    prepare_streams()
    _interrupt_on_termination()
    try:
        try:
            app([word for word in words if word != "--debug"])
        finally:
            # What ends at exit takes a bounded time, so another Ctrl-C does not cut it off with a traceback.
            atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
            sys.stdout.flush()  # here, where an error still becomes a sentence
    except ReaderGoneError as error:
        raise SystemExit(error.exit_code) from None
    except MfbenchError as error:
        if debug:
            raise
        _complain(str(error))
        raise SystemExit(error.exit_code) from None
    except KeyboardInterrupt:
        raise SystemExit(ExitCode.INTERRUPTED) from None
    except Exception as error:
        if debug:
            raise
        if isinstance(error, OSError) and error.filename:
            from mfbench.base.untrusted import plain_text

            _complain(f"cannot use the file {plain_text(error.filename, 100)}: {error.strerror}")
            raise SystemExit(ExitCode.USAGE if error.errno == errno.ENAMETOOLONG else ExitCode.FAILED) from None
        _complain(
            f"unexpected {type(error).__name__}: {error}. This is a bug in mfbench or in a plugin: "
            "run the command again with --debug and report the output"
        )
        raise SystemExit(ExitCode.FAILED) from None
    raise SystemExit(ExitCode.OK)


def _interrupt_on_termination() -> None:
    """Raise `KeyboardInterrupt` on SIGTERM and when the terminal is closed, as Ctrl-C does."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # A signal that the caller ignores (nohup) stays ignored.
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)


def _show_warning(message: Warning | str, category: type[Warning], *_: object) -> None:
    from mfbench.base.untrusted import plain_lines

    # A message may quote what a plugin raised, with control characters for the terminal.
    sys.stderr.write(f"warning: {plain_lines(str(message))}\n")


def _complain(text: str) -> None:
    from mfbench.base.untrusted import plain

    sys.stderr.write("".join(f"mfbench: {plain(line)}\n" for line in text.splitlines()))
