"""Errors of mfbench: one base class; each message states the problem, its location and the remedy.

The command line turns every `MfbenchError` into one sentence and an exit code; only ``--debug`` shows a traceback.
"""

import operator
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the ``mfbench`` command.

    Examples
    --------
    >>> int(ExitCode.NOTHING_MEASURED)
    3
    """

    OK = 0
    FAILED = 1
    USAGE = 2
    NOTHING_MEASURED = 3
    REGRESSION = 4
    UNDECIDED = 5
    INTERRUPTED = 130


class MfbenchError(Exception):
    """Base class of every error that mfbench raises deliberately.

    A valid request that cannot be fulfilled (a full disk, a folder in use) raises this class itself or `RunError`; an
    invalid request raises `UsageError`.
    """

    exit_code: ExitCode = ExitCode.FAILED


class UsageError(MfbenchError):
    """The request is not valid: it refers to something that does not exist, or its parts are inconsistent."""

    exit_code = ExitCode.USAGE


class UnknownNameError(UsageError):
    """A selector, classifier, dataset, suite, parameter or metric does not exist.

    Parameters
    ----------
    kind : str
        The kind of thing that was looked up, in the singular ("selector").
    name : str
        The name that does not exist.
    names : iterable of str
        The names that exist; the nearest are suggested.
    hint : str, default=""
        How to list the names, for example a command.
    owner : str, default=""
        What the name belongs to ("this run").
    """

    def __init__(self, kind: str, name: str, names: Iterable[str], hint: str = "", owner: str = "") -> None:
        super().__init__(kind, name, tuple(names), hint, owner)
        self.kind, self.name = kind, name

    def __str__(self) -> str:
        """Build the message lazily: finding similar names takes time, and many of these errors are never shown."""
        kind, name, names, hint, owner = self.args
        of_owner = f" of {owner}" if owner else ""
        return f"unknown {kind} {quoted(name)}{of_owner}{suggestion(name, names)}{f' ({hint})' if hint else ''}"


class PluginError(MfbenchError):
    """A plugin cannot be loaded, or violates a hook's contract; the message names its package."""


class DataError(MfbenchError):
    """A dataset cannot be read, or differs from its description."""


class DataUnavailableError(DataError):
    """A dataset cannot be obtained here: it is neither in mirror nor cache, and the network is off or unreachable.

    Parameters
    ----------
    reason : str
        What is missing, and why.
    remedy : str, default=""
        What the user can do about it.
    can_pull : bool, default=False
        Whether ``mfbench datasets pull`` can download the dataset.
    attempt : str, default=""
        Why a download failed; empty if none was tried.
    """

    def __init__(self, reason: str, remedy: str = "", *, can_pull: bool = False, attempt: str = "") -> None:
        super().__init__(f"{reason}; {remedy}" if remedy else reason)
        self.reason, self.remedy, self.can_pull, self.attempt = reason, remedy, can_pull, attempt


class SuiteError(UsageError):
    """A suite file is not valid; the message names the file and the key."""


class RunError(MfbenchError):
    """A run cannot start or continue: its folder is in use, read-only or full."""


class NeverStartedError(RunError):
    """A folder holds the store of a run that ended before recording its start, so it has no results.

    Parameters
    ----------
    folder : object
        The run folder.
    """

    def __init__(self, folder: object) -> None:
        super().__init__(f"{folder} holds a run that never started completely; repeat its command")


class NothingPlannedError(RunError):
    """No part of a suite can be run; its folder holds earlier results, which are kept."""

    exit_code = ExitCode.NOTHING_MEASURED


@contextmanager
def explained(
    error_class: type[MfbenchError], sentence: Callable[[str], str], *kinds: type[Exception]
) -> Iterator[None]:
    """Turn errors of the operating system or a library into one sentence.

    Parameters
    ----------
    error_class : type
        The error to raise.
    sentence : callable
        Takes the reason and returns the message.
    *kinds : type
        The errors to catch. A `BrokenPipeError` is never caught: it means that the reader of our output is gone.

    Examples
    --------
    >>> with explained(MfbenchError, lambda reason: f"cannot read it: {reason}", OSError):
    ...     open("no-such-file")
    Traceback (most recent call last):
    ...
    mfbench.errors.MfbenchError: cannot read it: No such file or directory
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except kinds as error:
        reason = getattr(error, "strerror", None) or str(error).strip().split("\n")[0] or type(error).__name__
        raise error_class(sentence(reason)) from error


@contextmanager
def plugin_code(
    error_class: type[MfbenchError], start: str, end: str = "", *, passing: type[Exception] | tuple[()] = MfbenchError
) -> Iterator[None]:
    """Turn any exception of a plugin's code, except Ctrl-C, into one sentence.

    Parameters
    ----------
    error_class : type
        The error to raise.
    start, end : str
        What the message has before and after the exception's type and message (see `describe_error`).
    passing : type or (), default=MfbenchError
        The exceptions to leave as they are; () for none.

    Examples
    --------
    >>> with plugin_code(PluginError, "the metric 'odd' failed:"):
    ...     raise KeyError("a")
    Traceback (most recent call last):
    ...
    mfbench.errors.PluginError: the metric 'odd' failed: KeyError: 'a'
    """
    try:
        yield
    except KeyboardInterrupt:
        raise
    except passing:
        raise
    except BaseException as error:
        raise error_class(f"{start} {describe_error(error)}{end}".lstrip()) from error


def suggestion(name: str, names: Iterable[str], limit: int = 12) -> str:
    """Return the end of a message about an unknown name: the nearest names, or all names if there are few.

    Parameters
    ----------
    name : str
        The name that does not exist.
    names : iterable of str
        The names that exist.
    limit : int, default=12
        Maximum number of names to list if none is similar.

    Returns
    -------
    str
        Text starting with ``": "``.

    Examples
    --------
    >>> suggestion("Relief_F", ["relieff", "variance"])
    ": did you mean 'relieff'?"
    >>> suggestion("zzz", ["knn", "lda"])
    ': choose from knn, lda'
    >>> suggestion("zzz", [])
    ': there are none'
    """
    import difflib

    choices = sorted(set(names))
    if not choices:
        return ": there are none"
    # Case, hyphens and underscores are the most common mistakes, so they do not count as differences.
    plain = {choice: _letters(choice) for choice in choices}
    equal = [choice for choice in choices if plain[choice] == _letters(name)]
    matches = difflib.get_close_matches(_letters(name), sorted(set(plain.values())), n=3, cutoff=0.6)
    near = equal or [choice for match in matches for choice in choices if plain[choice] == match][:3]
    if near:
        return ": did you mean " + " or ".join(repr(n) for n in near) + "?"
    listed = ", ".join(choices[:limit])
    return f": choose from {listed}" + (f", … ({len(choices)} in all)" if len(choices) > limit else "")


def quoted(text: str, limit: int = 200) -> str:
    r"""Return a text in quotes for use in a message, shortened in the middle if it is long.

    Examples
    --------
    >>> quoted("it's"), quoted("a" * 500 + "z", 10)
    ('"it\'s"', "'aaaaa…aaaaz'")
    """
    return repr(text if len(text) <= limit else f"{text[: limit // 2]}…{text[-(limit // 2) :]}")


def _letters(name: str) -> str:
    return name.casefold().translate({ord(mark): None for mark in "-_ "})


def describe_error(error: BaseException, limit: int = 500) -> str:
    r"""Return type and message of an exception of third-party code on one line, even if its ``__str__`` fails.

    Parameters
    ----------
    error : BaseException
    limit : int, default=500
        Maximum number of characters of the message to keep.

    Returns
    -------
    str

    Examples
    --------
    >>> describe_error(KeyError("a"))
    "KeyError: 'a'"
    >>> describe_error(ValueError("a\n\n  b"))
    'ValueError: a b'
    >>> describe_error(SystemExit())
    'SystemExit'
    """
    try:
        message = " ".join(printable(str(error)[:limit]).split())
    except KeyboardInterrupt:
        raise
    except BaseException as failure:  # noqa: BLE001 - the failing code itself computes the message
        message = f"its message cannot be shown, __str__ raised {type(failure).__name__}"
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def printable(text: str) -> str:
    r"""Return a text that can be encoded: lone surrogates, which no file or terminal accepts, become escapes.

    Examples
    --------
    >>> printable("a\ud800b")
    'a\\ud800b'
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def whole_number(value: object, name: str, least: int) -> int:
    """Return an integer argument as an int; NumPy integers are accepted.

    Parameters
    ----------
    value : object
    name : str
        The argument's description, with its article.
    least : int
        The smallest valid value.

    Raises
    ------
    UsageError
        If it is not an integer, or too small.

    Examples
    --------
    >>> whole_number(7, "a seed", 0)
    7
    """
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise UsageError(f"{name} is a whole number, not {value!r}") from None
    if isinstance(value, bool) or number < least:
        raise UsageError(f"{name} is a whole number from {least}, not {value!r}")
    return number
