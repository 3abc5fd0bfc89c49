"""Sections of the report of an audit: verdicts on promises, rates by design, and a picture."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from mfbench import Cell, Chart, Run, Section, Table
from mfbench.base.text import listing
from mfbench_audit.rates import HOLDS, LEVEL, TOLERANCE, judge, overall

ERRORS = {
    "fdr": "false discovery rate",
    "fwer": "family-wise error rate",
    "pfer": "false selections",
    "fpr": "false-alarm rate",
}
TITLE = "Promised error rates"
MARK = "!"
_KIND = re.compile(r"audit-design\(kind='([a-z-]+)'")
_MOST_NAMED = 4
_COLUMNS = [
    "method", "design", "error", "promise", "rate", "low", "high", "verdict", "rounds", "rounds_needed", "power",
    "selected", "seconds",
]  # fmt: skip


def sections_of(run: Run) -> list[Section]:
    """Return the section of an audit; none for other runs."""
    if run.protocol.kind != "audit":
        return []
    frame = audit_frame(run)
    data = {"audit": lambda: frame}
    if not len(frame):
        return [Section(TITLE, data=data)]
    tables = [_promises(frame), *_designs(frame)]
    chart = Chart(
        "promises",
        "Measured rates against promised ones",
        "One point per selector and design, with its 95 % interval; points above the diagonal exceed the promise.",
        spec=partial(_specify, frame),
        alt=partial(_describe, frame),
    )
    return [Section(TITLE, tables, [chart], _notes(), data, rows=lambda: [frame], leads=True)]


def audit_frame(run: Run) -> pd.DataFrame:
    """Return one row per selector and design: promise, measured rate with its interval and verdict, power, size."""
    trials = run.trials[run.trials["status"] == "ok"]
    designs = trials.groupby("method")["dataset"].nunique()
    lines = []
    for (method, dataset), own in trials.groupby(["method", "dataset"], sort=False):
        ordered = own.sort_values("repeat")
        error = next((name for name in ERRORS if ordered[name].notna().all()), None)
        if error is None or len(ordered) < 2:
            continue
        promise = float(ordered["promise"].iloc[0])
        names, relevant = run.feature_names(str(dataset)), run.relevant(str(dataset))
        most = float(len(names) - len(relevant)) if error == "pfer" else 1.0
        are_events = error == "fwer" or (error == "fdr" and not relevant)
        rate = judge(ordered[error].to_numpy(float), promise, most, int(designs[str(method)]), are_events=are_events)
        lines.append(
            {
                "method": method,
                "design": design_of(str(dataset)),
                "error": error,
                "promise": promise,
                "rate": rate.mean,
                "low": rate.low,
                "high": rate.high,
                "verdict": rate.verdict,
                "rounds": rate.rounds,
                "rounds_needed": rate.needed,
                "power": ordered["power"].mean(),
                "selected": ordered["n_selected"].mean(),
                "seconds": ordered["select_wall"].median(),
            }
        )
    frame = pd.DataFrame(lines, columns=_COLUMNS)
    order = {method: number for number, method in enumerate(run.methods)}
    return frame.sort_values("method", key=lambda labels: labels.map(order), kind="stable").reset_index(drop=True)


def design_of(dataset: str) -> str:
    """Return the name of a design without that of its generator."""
    match = _KIND.match(dataset)
    return match[1] if match and dataset.endswith("')") else dataset


def _promises(frame: pd.DataFrame) -> Table:
    rows = []
    for method, own in frame.groupby("method", sort=False):
        verdict = overall(list(own["verdict"]))
        worst = own.iloc[int(own["rate"].argmax())]
        breaking = list(own.loc[own["verdict"] == "breaks", "design"])
        where = listing(breaking) if breaking else ("" if verdict == "holds" else _open(own))
        rows.append(
            [
                Cell(str(method)),
                Cell(f"{ERRORS[worst['error']]} ≤ {worst['promise']:g}"),
                Cell(verdict, "best" if verdict == "holds" else "plain"),
                Cell(where),
                Cell(f"{worst['rate']:.2f} ({worst['design']})"),
                _number(own["power"].mean()),
                _number(own["selected"].mean(), 1),
                _number(own["seconds"].median(), 2),
            ]
        )
    heads = ["selector", "promise", "verdict", "where", "largest rate", "power", "selected", "seconds"]
    return Table(heads, rows, "Verdicts over all designs", wrap=3)


def _open(own: pd.DataFrame) -> str:
    """Return the undecided designs, and how many rounds would decide them."""
    designs = own[own["verdict"] == "undecided"]
    needed = designs["rounds_needed"]
    rounds = f"; about {needed.max():,.0f} rounds would decide" if needed.notna().all() else ""
    names = list(designs["design"])
    where = f"{len(names)} of {len(own)} designs" if len(names) > _MOST_NAMED else listing(names)
    return f"open on {where}{rounds}"


def _designs(frame: pd.DataFrame) -> list[Table]:
    """Return a table of rates for each kind of error, one row per design."""
    tables = []
    for error, own in frame.groupby("error", sort=False):
        methods, designs = list(dict.fromkeys(own["method"])), list(dict.fromkeys(own["design"]))
        cells = {(row["design"], row["method"]): _rate(row) for row in own.to_dict("records")}
        rows = [[Cell(d), *(cells.get((d, m), Cell("–", "missing")) for m in methods)] for d in designs]
        tables.append(Table(["design", *methods], rows, f"{ERRORS[str(error)].capitalize()} on each design"))
    return tables


def _rate(row: dict[Any, Any]) -> Cell:
    role = "best" if row["verdict"] == "holds" else "plain"
    text = f"{row['rate']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"
    return Cell(f"{text} {MARK}", "marked") if row["verdict"] == "breaks" else Cell(text, role)  # type: ignore[arg-type]


def _number(value: float, digits: int = 2) -> Cell:
    return Cell(f"{value:.{digits}f}") if np.isfinite(value) else Cell("–", "missing")


def _notes() -> list[str]:
    return [
        "Breaks: the rate exceeds the promise on a design; for a selector that keeps its promise on all designs, this "
        f"is reported with a probability of at most {100 * LEVEL:g} %. Holds: on every design the rate is shown, at "
        f"{100 * HOLDS:g} %, to be at most {TOLERANCE:g} times the promise (bold). Undecided: neither. {MARK}: breaks.",
        "Intervals of 95 %: Clopper and Pearson's for the probability of any false selection, else by betting, which "
        "assumes only that the errors of a round are bounded.",
        "Irrelevant features are independent of the class given all others; for tests of single features, and methods "
        "that compare with permuted targets, they are independent of it.",
        "Power: share of the relevant features that are selected, where there are any. Selected: mean number of "
        "features.",
    ]


def _specify(frame: pd.DataFrame) -> Any:
    """Return a panel for each kind of error: measured against promised, with the diagonal."""
    import altair as alt

    from mfbench.report.charts.drawing import BETTER, EQUAL, NEUTRAL, WORSE

    shown = frame.assign(kind=frame["error"].map(ERRORS))
    panels = []
    for kind, own in shown.groupby("kind", sort=False):
        top = 1.05 * float(max(own["high"].max(), own["promise"].max()))
        line = alt.Chart(pd.DataFrame({"promise": [0.0, top], "rate": [0.0, top]})).mark_line(
            color=EQUAL, strokeDash=[4, 4]
        )
        x = alt.X("promise:Q", title=f"promised {kind}", scale=alt.Scale(domain=[0.0, top]))
        base = alt.Chart(own)
        intervals = base.mark_rule(opacity=0.35).encode(x=x, y="low:Q", y2="high:Q", xOffset="method:N")
        colour = alt.Color(
            "verdict:N",
            title=None,
            scale=alt.Scale(domain=["holds", "undecided", "breaks"], range=[BETTER, NEUTRAL, WORSE]),
        )
        points = base.mark_circle(size=40, opacity=0.9).encode(
            x=x,
            y=alt.Y("rate:Q", title="measured", scale=alt.Scale(domain=[0.0, top])),
            color=colour,
            tooltip=["method:N", "design:N", "promise:Q", alt.Tooltip("rate:Q", format=".3f"), "verdict:N"],
        )
        panels.append((line.encode(x="promise:Q", y="rate:Q") + intervals + points).properties(width=260, height=220))
    return alt.concat(*panels, columns=2).resolve_scale(color="shared")


def _describe(frame: pd.DataFrame) -> str:
    above = int((frame["rate"] > frame["promise"]).sum())
    return (
        f"{above} of {len(frame)} rates are above the diagonal; {int((frame['verdict'] == 'breaks').sum())} exceed the "
        "promise significantly."
    )
