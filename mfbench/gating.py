"""The gate as a Python function: everything that ``mfbench gate`` does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from mfbench.compare.comparison import Comparison
from mfbench.compare.gate.environments import prepare_side
from mfbench.compare.gate.gate import GateOptions, run_gate
from mfbench.compare.gate.plan import plan_gate
from mfbench.compare.limits import parse_limits
from mfbench.data.lookup import Lookup
from mfbench.data.sources import DataOptions
from mfbench.errors import UsageError
from mfbench.host.registry import load_registry
from mfbench.run.budget import parse_duration
from mfbench.suite.additions import additions_of, with_additions
from mfbench.suite.loading import load_suite

BUDGET = "10m"
PROFILE = "gate"
CLOCKS = ("cpu", "wall")


def gate(
    base: str,
    head: str,
    suite: str,
    *,
    profile: str | None = None,
    part: str | None = None,
    only: Sequence[str] = (),
    add: Any = (),
    limits: Iterable[str] = (),
    level: float = 0.05,
    budget: str = BUDGET,
    clock: str = "cpu",
    data_dir: Path | str | None = None,
    offline: bool = False,
    undecided_ok: bool = False,
    folder: Path | str = ".",
    say: Callable[[str], None] = lambda sentence: None,
) -> Comparison:
    """Measure two versions of a package in one job, and judge whether the head is worse.

    Parameters
    ----------
    base, head : str
        Python interpreters, or revisions as ``"git:REVISION"``; ``"git:merge-base"`` is that of HEAD and the main
        branch.
    suite : str
        The name of an installed suite, or the path of a TOML file: which methods are timed, and on which data.
    profile : str or None, default=None
        The suite's profile; None uses ``"gate"`` if the suite has it, and the suite's default otherwise.
    part : str or None, default=None
        The part of the suite to measure, by its name in ``[parts.NAME]``; None means all of it.
    only : sequence of str, default=()
        Shell patterns; only datasets and methods with matching names are measured.
    add : mapping, or sequence of str and (label, method), default=()
        Methods to add to the suite, as in `run_suite`; their classes must be importable here and on both sides.
    limits : iterable of str, default=()
        What counts as worse, such as ``"time=1.05,memory=1.10"`` and ``"accuracy=0.01"``.
    level : float, default=0.05
        Probability of any false alarm.
    budget : str, default="10m"
        Time for all measurements: a number with s, m or h, or "1h30m".
    clock : {"cpu", "wall"}, default="cpu"
        The time that is judged.
    data_dir : Path, str or None, default=None
        A mirror of datasets; None uses the environment variable ``MFBENCH_DATA_DIR``.
    offline : bool, default=False
        Do not use the network for data.
    undecided_ok : bool, default=False
        Whether undecided cells count as no worse in `Comparison.exit_code`.
    folder : Path or str, default="."
        Where the repository of revisions is looked for.
    say : callable, optional
        Called with a sentence on the progress.

    Returns
    -------
    Comparison

    Raises
    ------
    UsageError
        If an argument is not valid.
    MfbenchError
        If an environment cannot be made, or no process of it starts.

    Notes
    -----
    The verdicts are described in ``docs/gate.md``.
    """
    if not 0.0 < level < 1.0:
        raise UsageError(f"the level {level:g} is not between 0 and 1: 0.05 accepts one false alarm in twenty jobs")
    if clock not in CLOCKS:
        raise UsageError(f"{clock!r} is not a clock: choose from {', '.join(CLOCKS)}")
    options = GateOptions(parse_limits(limits), level, parse_duration(budget), clock, undecided_ok=undecided_ok)
    registry = load_registry(isolated=True)
    loaded = load_suite(suite, registry, profile, part=part, preferred=PROFILE)
    loaded = with_additions(loaded, registry, additions_of(add, registry))
    plan = plan_gate(loaded, registry, only, Lookup(DataOptions.of(data_dir, offline)))
    say(f"preparing {base}")
    first = prepare_side(base, Path(folder))
    say(f"preparing {head}")
    return run_gate(plan, first, prepare_side(head, Path(folder)), options, say)
