"""The entry point ``mfbench``: its commands, each imported only when it runs, and errors as one sentence."""

import atexit
import errno
import io
import os
import signal
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NoReturn, TextIO

import typer
from typer import Option
from typer.core import TyperGroup

from mfbench.base.text import plain, plain_lines, plain_text
from mfbench.errors import ExitCode, MfbenchError, PluginError
from mfbench.host.features import COMMANDS, HOST, CommandSpec, FeatureEntry, entries, taken

CORE = {
    "suite": CommandSpec("Run a suite, and print the report.", "mfbench.cli.runs:suite"),
    "report": CommandSpec("Show or export the report of a run.", "mfbench.cli.runs:report"),
    "power": CommandSpec("Show which differences a run can find.", "mfbench.cli.runs:power"),
}


class CommandTable(NamedTuple):
    """The specs of all commands with their packages, and a sentence on each one left out."""

    specs: dict[str, tuple[CommandSpec, str]]
    problems: list[str]


def find_commands() -> CommandTable:
    """Return the commands in the order of ``--help``; an unusable one does not affect the others."""
    table = CommandTable({name: (spec, HOST) for name, spec in CORE.items()}, [])
    offered, problems = entries(COMMANDS)
    table.problems.extend(problems)
    for name, entry in sorted(offered.items()):
        if name in CORE:
            table.problems.append(taken(COMMANDS, entry))
            continue
        try:
            spec = entry.load()
            if not isinstance(spec, CommandSpec):
                raise PluginError(f"{name!r} of the package {entry.distribution} is not a mfbench.CommandSpec")
            if not all(isinstance(text, str) and text.isprintable() for text in spec):
                raise PluginError(f"{name!r} of the package {entry.distribution} has a field that is not one line")
        except MfbenchError as error:
            table.problems.append(f"the command {error}")
        else:
            table.specs[name] = spec, entry.distribution
    return table


class _Commands(Mapping[str, Any]):
    """A mapping from name to command, imported on first access."""

    def __init__(self, specs: dict[str, tuple[CommandSpec, str]]) -> None:
        self.specs = specs

    def __iter__(self) -> Iterator[str]:
        return iter(self.specs)

    def __len__(self) -> int:
        return len(self.specs)

    def __getitem__(self, name: str) -> Any:
        spec, distribution = self.specs[name]
        return FeatureEntry(name, spec.target, distribution).load(lambda target: _command_of(target, name))


def _command_of(target: Any, name: str) -> Any:
    if isinstance(target, typer.Typer):
        group = typer.main.get_group(target)
        group.name = name
        return group
    if not callable(target):
        raise TypeError("its target is neither a function nor a typer.Typer")
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name)(target)
    return typer.main.get_command(app)


class CommandGroup(TyperGroup):
    """The command ``mfbench``, with all installed subcommands."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = _Commands(find_commands().specs)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the command list of ``--help`` from the summaries."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, spec.summary) for name, (spec, _) in self.commands.specs.items()])


class OutputError(MfbenchError):
    """The standard output cannot be written to, for example because the disk is full."""


class ReaderGoneError(OutputError):
    """The reader of our output closed it early, as in ``mfbench plugins | head``."""

    exit_code = ExitCode.OK


class _Stream(io.FileIO):
    """The raw file of a standard stream; after an error it discards output, so that Python can exit cleanly."""

    is_output = is_needed = True

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            with Path(os.devnull).open("wb") as nowhere:
                os.dup2(nowhere.fileno(), self.fileno())
            if not self.is_output:  # there is nowhere else to report it; the exit code remains
                return len(data)
            has_gone = isinstance(error, BrokenPipeError)
            message = "cannot write to the standard output: "
            message += "its reader has closed it" if has_gone else str(error.strerror)
            if self.is_needed:
                raise (ReaderGoneError if has_gone else OutputError)(message) from None
            sys.stderr.write(f"mfbench: {message}; the command goes on without it\n")
            return len(data)


def prepare_streams() -> None:
    """Replace the standard streams so that a broken one ends neither a run nor its results.

    A stream that the caller has closed is connected to the null device. Otherwise the next file opened would get its
    descriptor, and printed text would end up in that file.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            nowhere = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - open until the process ends
            os.set_inheritable(nowhere.fileno(), True)  # like real streams: child processes need a valid descriptor too
            setattr(sys, name, nowhere)
        elif mode == "w" and isinstance(stream, io.TextIOWrapper):
            # Characters that the encoding lacks are written as escapes.
            stream.reconfigure(errors="backslashreplace")
            if isinstance(getattr(stream.buffer, "raw", stream.buffer), io.FileIO):
                setattr(sys, name, _guarded(stream, is_output=name == "stdout"))


def outlive_output() -> None:
    """Continue even if the standard output fails: the purpose of this command is not its output."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    if isinstance(raw, _Stream):
        raw.is_needed = False


def write_document(text: str) -> None:
    """Write a document to the standard output, as UTF-8 unless it is a terminal.

    Parameters
    ----------
    text : str
        HTML or JSON, for example, whose readers expect UTF-8 regardless of the terminal's encoding.
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
    version: Annotated[bool, Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
    debug: Annotated[bool, Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Benchmark feature selectors and classifiers: compare their scores, time and memory on many datasets."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit with an `ExitCode`.

    Parameters
    ----------
    arguments : list of str or None, default=None
        Command-line arguments; None uses `sys.argv`.
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
            # Exit handlers take a bounded time, so ignore further Ctrl-C instead of aborting them with a traceback.
            atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
            sys.stdout.flush()  # flush here, where an error still becomes a sentence
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
            _complain(f"cannot use the file {plain_text(error.filename, 100)}: {error.strerror}")
            raise SystemExit(ExitCode.USAGE if error.errno == errno.ENAMETOOLONG else ExitCode.FAILED) from None
        remedy = "run the command again with --debug and report the output"
        _complain(f"unexpected {type(error).__name__}: {error}. This is a bug in mfbench or in a plugin: {remedy}")
        raise SystemExit(ExitCode.FAILED) from None
    raise SystemExit(ExitCode.OK)


def _interrupt_on_termination() -> None:
    """Raise `KeyboardInterrupt` on SIGTERM and when the terminal closes, as Ctrl-C does."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # A signal that the caller ignores (nohup) stays ignored.
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)


def _show_warning(message: Warning | str, category: type[Warning], *_: object) -> None:
    # Plugin text in a message may contain terminal control characters.
    sys.stderr.write(f"warning: {plain_lines(str(message))}\n")


def _complain(text: str) -> None:
    sys.stderr.write("".join(f"mfbench: {plain(line)}\n" for line in text.splitlines()))
