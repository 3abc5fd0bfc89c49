"""Whether a repeated trial reproduces the claimed result: bit-identical, equal within rounding, or different."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

import numpy as np
import pandas as pd

from mfbench.host.expressions import canonical_text
from mfbench.model.trials import Interactions, Status
from mfbench.run.trial.steps import PAIRS_KEPT

RELATIVE = 1e-6
"""Relative tolerance for equality within rounding …"""
ABSOLUTE = 1e-9
"""… and absolute tolerance."""
COLUMNS = (
    "status", "error_type", "error_message", "scores", "n_selected", "chosen", "selected", "weights", "predictions",
    "decisions", "interactions", "candidates", "curve",
)  # fmt: skip
"""The result columns that are compared; times, memory and warnings are not."""
MEASURED = ("duration", "peak_memory")
"""The columns compared with a limit that only the claim reached."""
_WIDE_MARGINS = {Status.TIMEOUT: ("duration", 10.0, "s", 1.0), Status.MEMORY: ("peak_memory", 4.0, "GiB", 2.0**30)}
"""A trial this far below a limit should not reach it on any machine; time varies more than memory."""
_CLAUSES = {
    Status.OK: "succeeded",
    Status.ERROR: "failed",
    Status.TIMEOUT: "reached the time limit",
    Status.MEMORY: "reached the memory limit",
    Status.CRASH: "crashed",
}
_LIMITS = (Status.TIMEOUT, Status.MEMORY)
"""Reaching a limit depends on the machine; crashing should not."""


class AgreementKind(StrEnum):
    """The outcome of comparing a repetition with a claimed result."""

    EQUAL = "equal"
    ROUNDING = "rounding"
    DIFFERENT = "different"
    NOT_COMPARABLE = "not comparable"
    NOT_RUN = "not run"


COMPARED = (AgreementKind.EQUAL, AgreementKind.ROUNDING, AgreementKind.DIFFERENT)
"""The outcomes that count as evidence about the claim."""


@dataclass(frozen=True)
class RunLimits:
    """The limits of a bundle's run, which also apply to its repetition."""

    seconds: float = 0.0  # seconds, memory: time limit of a trial, and memory limit of a worker in bytes; 0 if unknown
    memory: float = 0.0
    # A clause on each limit below the usual one: reaching such a limit on both sides is weak evidence.
    lowered: tuple[str, ...] = ()


UNKNOWN = RunLimits()


@dataclass(frozen=True)
class Agreement:
    """An outcome, with the differences."""

    outcome: AgreementKind
    detail: str = ""  # a clause on the differences and their size; empty if there are none


def agreement(claimed: Mapping[str, Any], repeated: Mapping[str, Any], limits: RunLimits = UNKNOWN) -> Agreement:
    """Compare a claimed result with its repetition."""
    there, here = claimed["status"], repeated["status"]
    if there != here:
        detail = f"it {_status(claimed)} in the bundle and {_status(repeated)} here"
        missed = _missed(there, repeated, limits)
        limit = there in _LIMITS or here in _LIMITS
        return Agreement(
            AgreementKind.NOT_COMPARABLE if limit and not missed else AgreementKind.DIFFERENT, detail + missed
        )
    if here in _LIMITS and limits.lowered:
        return Agreement(
            AgreementKind.NOT_COMPARABLE, f"it {_CLAUSES[here]} on both sides: {'; '.join(limits.lowered)}"
        )
    if here in (*_LIMITS, Status.CRASH):
        return Agreement(AgreementKind.EQUAL)
    if here != Status.OK:
        # Messages may depend on the machine, so only the types are compared.
        if claimed["error_type"] == repeated["error_type"]:
            return Agreement(AgreementKind.EQUAL)
        return Agreement(
            AgreementKind.DIFFERENT,
            f"it fails with {claimed['error_type']} in the bundle and {repeated['error_type']} here",
        )
    first, second = dict(_leaves(claimed)), dict(_leaves(repeated))
    clauses: list[str] = []
    rounded: list[str] = []
    for name in dict.fromkeys([*first, *second]):
        for part, one, other in _parts(name, first.get(name), second.get(name)):
            clause, is_rounding = _difference(part, one, other)
            if clause:
                (rounded if is_rounding else clauses).append(clause)
    shown = clauses or rounded
    more = [f"{len(shown) - _SHOWN} more"] if len(shown) > _SHOWN else []
    outcome = AgreementKind.DIFFERENT if clauses else AgreementKind.ROUNDING if rounded else AgreementKind.EQUAL
    return Agreement(outcome, "; ".join([*shown[:_SHOWN], *more]))


_SHOWN = 3


def _missed(there: Status, repeated: Mapping[str, Any], limits: RunLimits) -> str:
    """Return by how much the repetition missed the limit that the claim reached; empty unless by a wide margin."""
    if there not in _WIDE_MARGINS or repeated["status"] in _LIMITS:
        return ""
    name, margin, unit, size = _WIDE_MARGINS[there]
    needed, limit = repeated.get(name), limits.seconds if there == Status.TIMEOUT else limits.memory
    if needed is None or not needed * margin < limit:  # also if the limit is unknown
        return ""
    return f", with {needed / size:.2g} of {limit / size:.3g} {unit}"


def _status(row: Mapping[str, Any]) -> str:
    clause = _CLAUSES[Status(row["status"])]
    return f"{clause} ({row['error_type']})" if row.get("error_type") else clause


def _leaves(result: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the individually compared parts of a result or grid point, scores first."""
    for name, score in (result["scores"] or {}).items():
        yield f"{prefix}{name}", score
    curve = result.get("curve")
    if curve is not None:
        yield "sizes of the curve", curve.sizes
        for metric, scores in zip(curve.metrics, curve.scores, strict=True):
            yield f"{metric} of the curve", scores
        for size, chosen in zip(curve.sizes, curve.chosen, strict=False):
            yield f"{size} features: selected parameters", canonical_text(chosen or {})
    for name in ("n_selected", "selected", "predictions", "decisions", "weights"):
        yield f"{prefix}{name}", result.get(name)
    yield f"{prefix}selected parameters", canonical_text(result["chosen"] or {})
    yield f"{prefix}interactions", result["interactions"]
    for number, candidate in enumerate(result.get("candidates") or (), 1):
        values = {field.name: getattr(candidate, field.name) for field in fields(candidate)}
        yield from _leaves(values, f"grid point {number}: ")


def _parts(name: str, claimed: Any, repeated: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield what is compared of a leaf; of weights of pairs, what does not depend on the order of equal ones."""
    if not (isinstance(claimed, Interactions) and isinstance(repeated, Interactions)):
        yield name, claimed, repeated
        return
    tables = [_table(claimed), _table(repeated)]
    pairs = tables[0].index.union(tables[1].index)
    there, here = (table.reindex(pairs) for table in tables)
    for table, summary, other in ((there, claimed, here), (here, repeated, there)):
        # A pair that is not listed weighs nothing or, if the list is full, no more than the last of it.
        most = float(abs(summary.values[PAIRS_KEPT - 1])) if len(summary.values) >= PAIRS_KEPT else 0.0
        table["weight"] = table["weight"].fillna(other["weight"].clip(-most, most))
    sizes = np.append(abs(there["weight"]), 0.0)
    distinct = np.isclose(sizes[:-1, None], sizes, rtol=RELATIVE, atol=ABSOLUTE).sum(axis=1) == 1
    for part in ("norm", "n_pairs"):
        yield f"{name} ({part})", getattr(claimed, part), getattr(repeated, part)
    yield f"{name} (weights)", there["weight"], here["weight"]
    yield f"{name} (ranks)", there.loc[distinct, "rank"], here.loc[distinct, "rank"]
    in_both = pairs.isin(tables[0].index) & pairs.isin(tables[1].index)
    yield f"{name} (p-values)", there.loc[in_both, "p_value"], here.loc[in_both, "p_value"]


def _table(summary: Interactions) -> pd.DataFrame:
    """Return the listed pairs with their numbers."""
    numbers = {"weight": summary.values, "rank": summary.ranks, "p_value": summary.p_values}
    return pd.DataFrame(numbers, pd.MultiIndex.from_arrays(list(summary.pairs.T)), dtype=float)


def _difference(name: str, claimed: Any, repeated: Any) -> tuple[str, bool]:
    """Return a clause on how two values differ (empty if they do not), and whether it is within rounding."""
    if claimed is None or repeated is None:
        return ("" if claimed is repeated else f"{name} only {'here' if claimed is None else 'in the bundle'}"), False
    if isinstance(claimed, str) or isinstance(repeated, str):
        return ("" if claimed == repeated else f"{name} are {claimed} in the bundle and {repeated} here"), False
    first, second = np.asarray(claimed), np.asarray(repeated)
    if first.shape != second.shape:
        return f"{name} have {first.size} values in the bundle and {second.size} here", False
    numbers = first.dtype.kind == "f" or second.dtype.kind == "f"
    if np.array_equal(first, second, equal_nan=numbers):
        return "", False
    close = numbers and np.allclose(first, second, rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True)
    if first.ndim == 0:
        return f"{name} is {_shown(claimed)} in the bundle and {_shown(repeated)} here", close
    with np.errstate(invalid="ignore"):
        unequal = ~((first == second) | (np.isnan(first) & np.isnan(second))) if numbers else first != second
        gaps = np.abs(first - second)[unequal] if numbers else np.empty(0)
    text = f"{int(unequal.sum())} of {first.size} values of {name} differ"
    # A gap between a number and a missing value is NaN.
    if np.isfinite(gaps).any():
        text += f", by up to {float(gaps[np.isfinite(gaps)].max()):.2g}"
    return text, close


def _shown(value: Any) -> str:
    return repr(float(value)) if isinstance(value, float | np.floating) and not math.isnan(value) else str(value)
