"""Verification records: what ``mfbench verify --record`` wrote, read as a stranger's file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mfbench.base.text import plain_text
from mfbench_claims.agreement import COMPARED, AgreementKind

LARGEST_RECORD = 2**26
"""Maximum size of a record in bytes."""


class RecordedTrial(BaseModel):
    """A trial that was run again, or was to be."""

    model_config = ConfigDict(extra="ignore")

    dataset: str
    method: str
    repeat: int
    fold: int
    outcome: AgreementKind


class Record(BaseModel):
    """What the board reads of a verification."""

    model_config = ConfigDict(extra="ignore")

    format: int = Field(ge=1, le=1)
    sha256: str
    seed: int
    results: int
    machine: str = "an unnamed machine"
    trials: list[RecordedTrial]
    dropped: list[str]
    missing: list[str]
    changed: list[str]
    figures: list[str]
    differences: dict[str, int] = {}  # how the machine differs from that of the bundle

    @property
    def compared(self) -> int:
        """Number of compared trials."""
        return sum(trial.outcome in COMPARED for trial in self.trials)

    @property
    def verdict(self) -> str:
        """What the verification concluded."""
        reasons = {
            "results differ": any(trial.outcome is AgreementKind.DIFFERENT for trial in self.trials),
            "verdicts would change": bool(self.changed),
            "parts of the suite were dropped": bool(self.dropped),
            "trials have no result": bool(self.missing),
            "published figures differ": bool(self.figures),
        }
        failed = [reason for reason, is_so in reasons.items() if is_so]
        return ", ".join(failed) or ("equal" if self.compared else "nothing compared")


def read_records(paths: Iterable[Path]) -> tuple[list[Record], list[str]]:
    """Return the records among some files, and a sentence about each other file."""
    records, problems = [], []
    for path in paths:
        try:
            if path.stat().st_size > LARGEST_RECORD:
                raise ValueError("it is too large")
            records.append(Record.model_validate_json(path.read_bytes()))
        except (OSError, ValueError) as error:
            reason = error.errors(include_url=False)[0]["msg"] if isinstance(error, ValidationError) else error
            problems.append(plain_text(f"{path} is not a verification record ({reason}), so it does not count.", 300))
    return records, problems
