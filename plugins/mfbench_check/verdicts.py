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
    """The outcome of one check of one subject."""

    subject: str  # name of the method, dataset, suite or plugin
    kind: str  # "selector", "classifier", "dataset", "suite" or "plugin"
    package: str  # the package that registers the subject
    check: str  # id of the check
    outcome: Outcome
    reason: str = ""  # why it was skipped, is not applicable or is expected to fail; of a pass, what the check reports
    expected: str = ""  # expected, seen: of a failure
    seen: str = ""
    snippet: str = ""  # of a failure: Python code of at most ten lines that shows it; may be empty
    seconds: float = 0.0


class CheckFailedError(Exception):
    """A subject does not do what a check expects."""

    def __init__(self, expected: str, seen: str, snippet: str = "") -> None:
        super().__init__(f"expected {expected}; seen: {seen}")
        self.expected, self.seen, self.snippet = expected, seen, snippet


class NotApplicableError(Exception):
    """A check asks for something that the subject does not have."""
