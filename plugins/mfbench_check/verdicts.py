"""The nouns of a check run: the outcome of a check of a subject, and the exceptions by which a check ends."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """How a check of a subject ended."""

    PASS = "pass"
    FAIL = "fail"
    EXPECTED = "expected failure"
    SKIPPED = "skipped"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The outcome of one check of one subject.

    Attributes
    ----------
    subject : str
        Name of the method, dataset, suite or plugin.
    kind : str
        "selector", "classifier", "dataset", "suite" or "plugin".
    package : str
        The package that registers the subject.
    check : str
        Id of the check.
    outcome : Outcome
    reason : str
        Why it was skipped, is not applicable or is expected to fail; of a pass, what the check reports.
    expected, seen : str
        Of a failure.
    snippet : str
        Of a failure: Python code of at most ten lines that shows it; may be empty.
    seconds : float
    """

    subject: str
    kind: str
    package: str
    check: str
    outcome: Outcome
    reason: str = ""
    expected: str = ""
    seen: str = ""
    snippet: str = ""
    seconds: float = 0.0


class CheckFailedError(Exception):
    """A subject does not do what a check expects.

    Parameters
    ----------
    expected, seen : str
        One sentence each, without a full stop.
    snippet : str, default=""
        Python code of at most ten lines that shows it.

    Examples
    --------
    >>> raise CheckFailedError("finite weights", "weight 2 is nan")
    Traceback (most recent call last):
    ...
    mfbench_check.verdicts.CheckFailedError: expected finite weights; seen: weight 2 is nan
    """

    def __init__(self, expected: str, seen: str, snippet: str = "") -> None:
        super().__init__(f"expected {expected}; seen: {seen}")
        self.expected, self.seen, self.snippet = expected, seen, snippet


class NotApplicableError(Exception):
    """A check asks for something that the subject does not have.

    Parameters
    ----------
    reason : str
    """
