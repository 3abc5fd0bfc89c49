"""The result of a verification: each sampled trial with its outcome, and the conclusions about the claim."""

from __future__ import annotations

import dataclasses
import hashlib
import math
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mfbench.base.text import counted, plain
from mfbench.errors import ExitCode
from mfbench_claims.agreement import ABSOLUTE, COMPARED, RELATIVE, AgreementKind

Place = tuple[str, str, int, int]
"""Dataset, method, repeat and fold of a trial."""
CONFIDENCE = 0.95
FORGED = 0.05
"""Share of forged results for which the probability of finding one is stated."""
# Rounding tolerance: a probability of exactly 5 % may come out slightly lower.
_DOUBT = (1 - CONFIDENCE) * (1 - 1e-9)


def new_seed() -> int:
    """Return an unpredictable seed, so that no author can know which trials will be sampled."""
    return secrets.randbits(32)


def sample_of(places: Iterable[Place], number: int | None, seed: int) -> list[Place]:
    """Return a simple random sample; a larger one with the same seed contains a smaller one."""
    return sorted(places) if number is None else sorted(in_order_of_draw(places, seed)[:number])


def in_order_of_draw(places: Iterable[Place], seed: int) -> list[Place]:
    """Return the trials in the order in which samples with a seed take them."""
    return sorted(places, key=lambda place: _draw(place, seed))


def _draw(place: Place, seed: int) -> bytes:
    return hashlib.sha256(repr((seed, *place)).encode()).digest()


def largest_share(population: int, sample: int, differing: int) -> float:
    """Return the largest share of differing trials compatible with a sample, at 95 % confidence."""
    # It is exact (hypergeometric): with a larger share, a sample with so few differing trials has a probability below
    # 0.05.
    from scipy.stats import hypergeom

    if population == 0 or sample == 0:
        return 1.0
    # The probability decreases with the number of differing trials, so bisection finds the largest.
    low, high = differing, population - (sample - differing)
    while low < high:
        middle = (low + high + 1) // 2
        if hypergeom.cdf(differing, population, middle, sample) > _DOUBT:
            low = middle
        else:
            high = middle - 1
    return low / population


def chance_of_finding(population: int, sample: int, share: float) -> float:
    """Return the probability that a sample contains at least one of a share of the trials."""
    from scipy.stats import hypergeom

    if 0 in (population, sample):
        return 0.0
    return float(hypergeom.sf(0, population, math.ceil(share * population), min(sample, population)))


def percent_text(chance: float) -> str:
    """Return a probability in percent; only a certain one is 100 %."""
    return "over 99.9 %" if 0.9995 <= chance < 1.0 else f"{100 * chance:.1f} %".replace(".0 %", " %")


@dataclass(frozen=True)
class VerifiedTrial:
    """A sampled trial."""

    dataset: str
    method: str
    repeat: int
    fold: int
    # "equal" (bit-identical), "rounding" (equal within rounding), "different", "not comparable" (a time or memory limit
    # was reached on one side), or "not run" (cannot run here).
    outcome: AgreementKind
    detail: str = ""  # the differences and their size, or why the trial cannot be run or compared

    @property
    def name(self) -> str:
        """The trial's name in messages."""
        return f"{self.method} on {self.dataset}, repeat {self.repeat}, fold {self.fold}"


@dataclass(frozen=True)
class Verification:
    """The result of `mfbench.verify_bundle`."""

    bundle: str  # file name
    sha256: str  # SHA-256 checksum of the file
    suite: str
    profile: str
    protocol: str  # protocol kind
    measures_times: bool  # times are not compared, so a verification of such a protocol says little
    part: str  # the suite's part that the run was restricted to; empty for the whole suite
    only: list[str]  # further patterns that restricted the run
    share: str  # the shards of a run in the bundle; empty for a whole run
    suite_differences: list[str]  # differences from the installed suite of that name
    limits: list[str]  # time and memory limits below the suite's or the standard ones
    figures: list[str]  # published figures that differ from the installed tables
    seed: int  # seed of the sample, which reproduces it
    planned: int  # planned, results: trials in the bundle's plan, and those with a result
    results: int
    # Trials of the suite missing from its plan, except those excluded by a part, `--only` or a recorded reason.
    unplanned: int
    dropped: list[str]  # the missing datasets, methods or folds; empty for a shard
    missing: list[str]  # planned trials without a result
    code: list[str]  # code that was run again: distributions with their methods' packages, and import paths
    reused: list[str]  # sentence on results that the run did not measure itself
    left_out: dict[str, str]  # datasets and methods left out of the run, with the reasons
    trials: list[VerifiedTrial]  # the sample
    # Differences from the original environment (versions, code, processor), each with the number of sampled trials
    # affected.
    differences: dict[str, int]
    # Verdicts on each dataset under both rules, and across datasets, in the bundle's run or with the repeated results.
    verdicts: int
    changed: list[str]  # verdicts that would change if repeated results replaced the claimed ones
    # The suite's limit for sampling the training rows of larger folds; None if it samples none.
    max_rows: int | None = None
    machine: str = ""  # processor and versions here

    @property
    def counts(self) -> dict[str, int]:
        """The number of trials with each outcome."""
        return {str(outcome): sum(trial.outcome is outcome for trial in self.trials) for outcome in AgreementKind}

    @property
    def compared(self) -> int:
        """Number of trials that were run again and compared."""
        return sum(trial.outcome in COMPARED for trial in self.trials)

    @property
    def largest_share(self) -> float:
        """Largest share of differing results compatible with the sample, at 95 % confidence."""
        # This refers to the comparable results: if the sample covers all results, the number is exact.
        comparable = self.compared if len(self.trials) == self.results else self.results
        return largest_share(comparable, self.compared, self.counts[AgreementKind.DIFFERENT])

    @property
    def exit_code(self) -> ExitCode:
        """FAILED if anything differs, is missing or would change; else NOTHING_MEASURED if no trial was compared."""
        if self.counts[AgreementKind.DIFFERENT] or self.changed or self.dropped or self.missing or self.figures:
            return ExitCode.FAILED
        return ExitCode.OK if self.compared else ExitCode.NOTHING_MEASURED

    def __str__(self) -> str:
        """Return what ``mfbench verify`` prints."""
        return "\n".join(verification_lines(self))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as ``mfbench verify --json`` writes them."""
        figures = {"compared": self.compared, "counts": self.counts, "largest_share": self.largest_share}
        return {"format": 1, **dataclasses.asdict(self), **figures}


_MOST_NAMED = 20
_FEW = 5
_HEADINGS = {
    AgreementKind.DIFFERENT: "Different:",
    AgreementKind.ROUNDING: "Equal within rounding:",
    AgreementKind.NOT_COMPARABLE: "Not comparable:",
    AgreementKind.NOT_RUN: "Could not be run here:",
}


def verification_lines(verification: Verification) -> list[str]:
    """Return the lines that describe a verification."""
    return [plain(line) for line in _lines(verification)]


def _lines(verification: Verification) -> Iterator[str]:
    yield f"{verification.bundle} (sha256 {verification.sha256})"
    part = f", part {verification.part}" if verification.part else ""
    yield (
        f"Suite {verification.suite}, profile {verification.profile}{part}: {verification.results:,} of "
        f"{counted(verification.planned, 'planned trial')} have a result."
    )
    if verification.only:
        yield f"Restricted by --only: {_named(verification.only)}"
    if verification.share:
        yield verification.share
    if verification.suite_differences:
        yield f"Its suite is not the installed one: {_named(verification.suite_differences)}"
    if verification.limits:
        yield f"Its limits are lower than usual: {_named(verification.limits)}"
    if verification.max_rows is not None:
        yield f"Training rows are sampled, in the bundle and here: at most {verification.max_rows:,} in a fold."
    if verification.missing:
        yield f"Without a result: {_named(verification.missing)}"
    if verification.dropped:
        number = counted(verification.unplanned, "trial")
        yield f"Dropped without a stated reason, {number} of its suite are not in its plan:"
        yield from _listed(verification.dropped)
    yield from verification.reused
    if verification.left_out:
        yield "Left out by its run:"
        yield from _listed([f"{label}: {reason or 'no reason'}" for label, reason in verification.left_out.items()])
    if verification.figures:
        yield "Published figures that are not those of the installed tables:"
        yield from _listed(verification.figures)
    if verification.code:
        yield f"Code that was run again: {'; '.join(verification.code)}."
    counts = verification.counts
    yield f"Sample: {counted(len(verification.trials), 'trial')} with --seed {verification.seed}."
    yield f"  {counts[AgreementKind.EQUAL]:>5,} equal to the bit"
    yield f"  {counts[AgreementKind.ROUNDING]:>5,} equal within rounding ({RELATIVE:g} of the value, or {ABSOLUTE:g})"
    yield f"  {counts[AgreementKind.DIFFERENT]:>5,} different"
    for outcome, text in (
        (AgreementKind.NOT_COMPARABLE, "not comparable"),
        (AgreementKind.NOT_RUN, "could not be run here"),
    ):
        if counts[outcome]:
            yield f"  {counts[outcome]:>5,} {text}"
    for outcome, heading in _HEADINGS.items():
        trials = [trial for trial in verification.trials if trial.outcome is outcome]
        if trials:
            yield heading
            if outcome is AgreementKind.NOT_RUN:  # all trials of a method or dataset share a reason
                reasons = Counter(trial.detail for trial in trials).most_common()
                yield from _listed([f"{counted(number, 'trial')}: {reason}" for reason, number in reasons])
            else:
                yield from _listed([f"{trial.name}: {trial.detail}" for trial in trials])
    if verification.measures_times and verification.compared:
        yield "Times and memory, which this suite measures, are not compared."
    yield from _on_differences(verification)
    yield from _on_verdicts(verification)
    if verification.compared:
        yield _on_share(verification)


def _named(names: list[str]) -> str:
    more = [f"{len(names) - _FEW:,} more"] if len(names) > _FEW else []
    return "; ".join([*names[:_FEW], *more])


def _listed(clauses: Sequence[str]) -> Iterator[str]:
    for clause in clauses[:_MOST_NAMED]:
        yield f"  {clause}"
    if len(clauses) > _MOST_NAMED:
        yield f"  and {len(clauses) - _MOST_NAMED:,} more (--json lists all)"


def _on_differences(verification: Verification) -> Iterator[str]:
    if verification.differences:
        listed = "; ".join(
            f"{clause} ({counted(number, 'trial')})" for clause, number in verification.differences.items()
        )
        yield f"Differences here: {listed}."
    elif verification.counts[AgreementKind.ROUNDING]:
        yield (
            "Versions and the name of the processor are the same here; processors of one name can round differently."
        )


def _on_verdicts(verification: Verification) -> Iterator[str]:
    if verification.changed:
        yield f"{len(verification.changed)} of {counted(verification.verdicts, 'verdict')} would change:"
        yield from _listed(verification.changed)
    elif verification.verdicts and verification.compared:
        number = verification.verdicts
        subject = "the only verdict stays" if number == 1 else f"all {number:,} verdicts stay"
        yield f"With the repeated results, {subject} the same."


def _on_share(verification: Verification) -> str:
    if verification.compared == verification.results:
        return "Every result of the bundle was compared."
    if len(verification.trials) == verification.results:
        return "Every result of the bundle that can be compared here was compared."
    share, differing = verification.largest_share, verification.counts[AgreementKind.DIFFERENT]
    others = "" if verification.compared == len(verification.trials) else " that can be compared here"
    percent = f"{100 * share:.2g}" if share < 0.1 else f"{100 * share:.0f}"
    compared = f"{counted(verification.compared, 'result')} compared and {differing:,} different"
    chance = percent_text(chance_of_finding(verification.results, verification.compared, FORGED))
    return (
        f"With {compared}, at most {percent} % of the results{others} differ, with 95 % confidence. If "
        f"{100 * FORGED:.0f} % were forged, such a sample would have one of them with a probability of {chance}."
    )
