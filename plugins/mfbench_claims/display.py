"""What a verification says, as lines for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from mfbench.base.untrusted import plain
from mfbench.base.wording import counted
from mfbench.suite.forms import KINDS
from mfbench_claims.agreement import ABSOLUTE, RELATIVE, Outcome
from mfbench_claims.verification import Verification

_MOST_NAMED = 20
_FEW = 5
_HEADINGS = {
    Outcome.DIFFERENT: "Different:",
    Outcome.ROUNDING: "Equal within rounding:",
    Outcome.NOT_COMPARABLE: "Not comparable:",
    Outcome.NOT_RUN: "Could not be run here:",
}


def verification_lines(verification: Verification) -> list[str]:
    """Return what a verification says."""
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
    yield f"  {counts[Outcome.EQUAL]:>5,} equal to the bit"
    yield f"  {counts[Outcome.ROUNDING]:>5,} equal within rounding ({RELATIVE:g} of the value, or {ABSOLUTE:g})"
    yield f"  {counts[Outcome.DIFFERENT]:>5,} different"
    for outcome, text in ((Outcome.NOT_COMPARABLE, "not comparable"), (Outcome.NOT_RUN, "could not be run here")):
        if counts[outcome]:
            yield f"  {counts[outcome]:>5,} {text}"
    for outcome, heading in _HEADINGS.items():
        trials = [trial for trial in verification.trials if trial.outcome is outcome]
        if trials:
            yield heading
            if outcome is Outcome.NOT_RUN:  # all trials of a method or dataset have the same reason
                reasons = Counter(trial.detail for trial in trials).most_common()
                yield from _listed([f"{counted(number, 'trial')}: {reason}" for reason, number in reasons])
            else:
                yield from _listed([f"{trial.name}: {trial.detail}" for trial in trials])
    if KINDS[verification.protocol].times and verification.compared:
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
    elif verification.counts[Outcome.ROUNDING]:
        yield "Neither versions nor the processor differ here, so nothing explains the rounding."


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
    share, differing = verification.largest_share, verification.counts[Outcome.DIFFERENT]
    others = "" if verification.compared == len(verification.trials) else " that can be compared here"
    percent = f"{100 * share:.2g}" if share < 0.1 else f"{100 * share:.0f}"
    compared = f"{counted(verification.compared, 'result')} compared and {differing:,} different"
    return f"With {compared}, at most {percent} % of the results{others} differ, with 95 % confidence."
