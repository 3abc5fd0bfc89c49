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
    """A trial of the sample.

    Attributes
    ----------
    dataset, method : str
    repeat, fold : int
    outcome : str
        "equal" (to the bit), "rounding" (equal within rounding), "different", "not comparable" (a limit of time or
        memory was reached on one side), or "not run" (it cannot be run here).
    detail : str
        What differs and by how much, or why the trial cannot be run or compared.
    """

    dataset: str
    method: str
    repeat: int
    fold: int
    outcome: Outcome
    detail: str = ""

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"{self.method} on {self.dataset}, repeat {self.repeat}, fold {self.fold}"


@dataclass(frozen=True)
class Verification:
    """The result of `mfbench.verify_bundle`.

    Attributes
    ----------
    bundle : str
        The name of the file.
    sha256 : str
        The hash of the file.
    suite, profile : str
    protocol : str
        The kind of its protocol. Times are not compared, so of ``"timing"`` a verification says little.
    part : str
        The name of the suite's part that the run was restricted to; empty for the whole suite.
    only : list of str
        The patterns that restricted the run further.
    share : str
        Which shares of a run it is; empty for a whole run.
    suite_differences : list of str
        How the bundle's suite differs from the installed suite of that name.
    limits : list of str
        Its limits of time and memory that are below those of that suite, or below the standard ones.
    figures : list of str
        Published figures that are not those of the installed tables.
    seed : int
        That of the sample: with it, the same trials are sampled again.
    planned, results : int
        Trials of the bundle's plan, and those with a result.
    unplanned : int
        Trials of its suite that its plan does not have, without those that a part, ``--only`` or a recorded reason
        excludes.
    dropped : list of str
        What they are: datasets, methods or folds; empty for a share of a run.
    missing : list of str
        Planned trials without a result.
    code : list of str
        Whose code was run again: distributions, each with the packages of its methods, and import paths.
    reused : list of str
        A sentence on results that its run had not measured itself.
    left_out : dict of str to str
        Datasets and methods that the run left out, each with the reason.
    trials : list of VerifiedTrial
        The sample.
    differences : dict of str to int
        What differs here from where the results come from (versions, code, processor), each with the number of sampled
        trials that it concerns.
    verdicts : int
        Verdicts on each dataset, by both rules, and across datasets: those of the bundle's run, and those that it has
        only with the repeated results.
    changed : list of str
        The verdicts that would change with the repeated results in place of the claimed ones.
    max_rows : int or None
        To how many training rows its suite samples a larger fold, in the bundle and here; None if it samples none.
    """

    bundle: str
    sha256: str
    suite: str
    profile: str
    protocol: str
    part: str
    only: list[str]
    share: str
    suite_differences: list[str]
    limits: list[str]
    figures: list[str]
    seed: int
    planned: int
    results: int
    unplanned: int
    dropped: list[str]
    missing: list[str]
    code: list[str]
    reused: list[str]
    left_out: dict[str, str]
    trials: list[VerifiedTrial]
    differences: dict[str, int]
    verdicts: int
    changed: list[str]
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
        """The largest share of differing results that the sample is compatible with, at a confidence of 95 %.

        Of the results that can be compared here: if the sample has all results, their number is known.
        """
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
