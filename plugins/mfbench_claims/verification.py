"""What a verification says: each trial of the sample with its outcome, and what follows for the claim."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from mfbench.errors import ExitCode
from mfbench_claims.agreement import COMPARED, Outcome
from mfbench_claims.sampling import largest_share


@dataclass(frozen=True)
class VerifiedTrial:
    """A trial of the sample."""

    dataset: str
    method: str
    repeat: int
    fold: int
    # "equal" (to the bit), "rounding" (equal within rounding), "different", "not comparable" (a limit of time or memory
    # was reached on one side), or "not run" (it cannot be run here).
    outcome: Outcome
    detail: str = ""  # what differs and by how much, or why the trial cannot be run or compared

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"{self.method} on {self.dataset}, repeat {self.repeat}, fold {self.fold}"


@dataclass(frozen=True)
class Verification:
    """The result of `mfbench.verify_bundle`."""

    bundle: str  # the name of the file
    sha256: str  # the hash of the file
    suite: str
    profile: str
    protocol: str  # the kind of its protocol. Times are not compared, so of `"timing"` a verification says little
    part: str  # the name of the suite's part that the run was restricted to; empty for the whole suite
    only: list[str]  # the patterns that restricted the run further
    share: str  # which shares of a run it is; empty for a whole run
    suite_differences: list[str]  # how the bundle's suite differs from the installed suite of that name
    limits: list[str]  # its limits of time and memory that are below those of that suite, or below the standard ones
    figures: list[str]  # published figures that are not those of the installed tables
    seed: int  # that of the sample: with it, the same trials are sampled again
    planned: int  # planned, results: trials of the bundle's plan, and those with a result
    results: int
    # Trials of its suite that its plan does not have, without those that a part, `--only` or a recorded reason
    # excludes.
    unplanned: int
    dropped: list[str]  # what they are: datasets, methods or folds; empty for a share of a run
    missing: list[str]  # planned trials without a result
    code: list[str]  # whose code was run again: distributions, each with the packages of its methods, and import paths
    reused: list[str]  # A sentence on results that its run had not measured itself
    left_out: dict[str, str]  # datasets and methods that the run left out, each with the reason
    trials: list[VerifiedTrial]  # the sample
    # What differs here from where the results come from (versions, code, processor), each with the number of sampled
    # trials that it concerns.
    differences: dict[str, int]
    # Verdicts on each dataset, by both rules, and across datasets: those of the bundle's run, and those that it has
    # only with the repeated results.
    verdicts: int
    changed: list[str]  # the verdicts that would change with the repeated results in place of the claimed ones
    # To how many training rows its suite samples a larger fold, in the bundle and here; None if it samples none.
    max_rows: int | None = None

    @property
    def counts(self) -> dict[str, int]:
        """The number of trials with each outcome."""
        return {str(outcome): sum(trial.outcome is outcome for trial in self.trials) for outcome in Outcome}

    @property
    def compared(self) -> int:
        """Number of trials that were run again and compared."""
        return sum(trial.outcome in COMPARED for trial in self.trials)

    @property
    def largest_share(self) -> float:
        """The largest share of differing results that the sample is compatible with, at a confidence of 95 %."""
        # Of the results that can be compared here: if the sample has all results, their number is known.
        comparable = self.compared if len(self.trials) == self.results else self.results
        return largest_share(comparable, self.compared, self.counts[Outcome.DIFFERENT])

    @property
    def exit_code(self) -> ExitCode:
        """FAILED if anything differs, is missing or would change, else NOTHING_MEASURED if no trial was compared."""
        if self.counts[Outcome.DIFFERENT] or self.changed or self.dropped or self.missing or self.figures:
            return ExitCode.FAILED
        return ExitCode.OK if self.compared else ExitCode.NOTHING_MEASURED

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as ``mfbench verify --json`` writes them."""
        figures = {"compared": self.compared, "counts": self.counts, "largest_share": self.largest_share}
        return {"format": 1, **dataclasses.asdict(self), **figures}
