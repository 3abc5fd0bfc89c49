"""The result of a check run, and its documents: JSON, with a schema, and JUnit XML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from mfbench.base.junit import Case, document
from mfbench.base.wording import counted
from mfbench.errors import ExitCode
from mfbench.report.render.json import json_text, read_schema
from mfbench_check.catalog import CHECKS
from mfbench_check.verdicts import Outcome, Verdict

NAME, VERSION = "mfbench-check", 1
"""The form of the JSON document and its version, which rises if a key is removed or changed."""
SCHEMA = "check.schema.json"
_TESTED = (Outcome.PASS, Outcome.FAIL, Outcome.EXPECTED)
_JUNIT: dict[Outcome, Literal["passed", "failed", "skipped"]] = {Outcome.PASS: "passed", Outcome.FAIL: "failed"}


@dataclass(frozen=True)
class CheckReport:
    """The verdicts of a check run."""

    verdicts: tuple[Verdict, ...]  # of each check of each subject, subject by subject
    seed: int = 0
    # Python, the numeric libraries, mfbench, and the packages whose plugins were checked.
    versions: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0  # how long the run took

    @property
    def failures(self) -> tuple[Verdict, ...]:
        """The checks that failed and were not expected to."""
        return self.of(Outcome.FAIL)

    def of(self, outcome: Outcome) -> tuple[Verdict, ...]:
        """Return the verdicts with an outcome."""
        return tuple(verdict for verdict in self.verdicts if verdict.outcome is outcome)

    @property
    def counts(self) -> dict[Outcome, int]:
        """Number of verdicts with each outcome."""
        counts = Counter(verdict.outcome for verdict in self.verdicts)
        return {outcome: counts[outcome] for outcome in Outcome}

    @property
    def subjects(self) -> tuple[tuple[str, str], ...]:
        """Kind and name of each subject."""
        return tuple(dict.fromkeys((verdict.kind, verdict.subject) for verdict in self.verdicts))

    @property
    def exit_code(self) -> ExitCode:
        """What the command returns: 0 if no check failed, 1 if one did, 3 if nothing was checked."""
        if self.failures:
            return ExitCode.FAILED
        return ExitCode.OK if any(self.counts[outcome] for outcome in _TESTED) else ExitCode.NOTHING_MEASURED

    @property
    def headline(self) -> str:
        """The outcome in one line."""
        if not self.verdicts:
            return (
                "nothing was checked: no third-party plugin is installed; name what to check, or check the built-in "
                "plugins with --package mfbench"
            )
        names = {
            Outcome.FAIL: "failed",
            Outcome.PASS: "passed",
            Outcome.EXPECTED: "failed as declared",
            Outcome.SKIPPED: "skipped",
            Outcome.NOT_APPLICABLE: "not applicable",
        }
        numbers = ", ".join(f"{self.counts[one]} {name}" for one, name in names.items() if self.counts[one])
        return f"{counted(len(self.verdicts), 'check')} of {counted(len(self.subjects), 'subject')}: {numbers}"

    def to_json(self) -> str:
        """Return the report as JSON; `schema` describes the document."""
        content = {
            "schema": {"name": NAME, "version": VERSION},
            "headline": self.headline,
            "exit_code": int(self.exit_code),
            "seed": self.seed,
            "seconds": round(self.seconds, 3),
            "versions": dict(self.versions),
            "counts": {str(outcome): number for outcome, number in self.counts.items()},
            "verdicts": [{"group": group_of(verdict), **asdict(verdict)} for verdict in self.verdicts],
        }
        return json_text(content)

    def to_junit(self) -> str:
        """Return the report as JUnit XML with one test case per verdict; an expected failure counts as skipped."""
        return document(
            "mfbench check",
            [_case(verdict) for verdict in self.verdicts],
            properties=[("seed", str(self.seed)), *self.versions.items()],
            lines=[self.headline],
            seconds=self.seconds,
        )


def group_of(verdict: Verdict) -> str:
    """Return the group of a verdict's check; "" if there is no such check any more."""
    return CHECKS[verdict.check].group if verdict.check in CHECKS else ""


def explanation(verdict: Verdict) -> str:
    """Return what a failure is about in several lines: what was expected and seen, and the code that shows it."""
    lines = [
        f"{verdict.kind} {verdict.subject} fails the check {verdict.check}",
        f"expected: {verdict.expected}",
        f"seen: {verdict.seen}",
    ]
    return "\n".join([*lines, "", verdict.snippet] if verdict.snippet else lines)


def _case(verdict: Verdict) -> Case:
    is_failure = verdict.outcome is Outcome.FAIL
    other = f"{verdict.outcome}: {verdict.reason}"
    return Case(
        group=f"{verdict.kind}.{verdict.subject}",
        name=verdict.check,
        outcome=_JUNIT.get(verdict.outcome, "skipped"),
        message=f"expected {verdict.expected}; seen: {verdict.seen}" if is_failure else other,
        kind=group_of(verdict),
        details=explanation(verdict),
        seconds=verdict.seconds,
    )


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the documents that `CheckReport.to_json` makes."""
    return read_schema(__package__, SCHEMA)
