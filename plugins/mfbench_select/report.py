"""The report of ``mfbench select``: ten lines, and a page with curve, stability, pairs and all that was tried."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from mfbench import Cell, Chart, Run, Section, Table
from mfbench.base.text import counted, listing
from mfbench.errors import RunError
from mfbench_select.answer import Answer, answer_of, gap, undecided
from mfbench_select.inference import Interval, p_worse
from mfbench_select.suite import ALL, RANDOM, REPEATS

_SHOWN = 12  # features in the answer
_FEATURES = 30  # of the page's table and chart
_PAIRS = 10
_EQUALS = 4
_RARE = 0.8  # share of the largest class from which on accuracy says little


def sections_of(run: Run) -> list[Section]:
    """Return the sections of a run of the protocol ``select``."""
    if len(run.datasets) > 1:
        return [Section("Selection", notes=["Only a suite of one dataset has this report."])]
    try:
        answer = answer_of(run)
    except RunError as error:
        return [Section("Selection", notes=[str(error)])]
    lines = lines_of(answer)
    table = Table(["question", "answer"], [[Cell(name), Cell(text)] for name, text in lines], wrap=1)
    data = {"selection": partial(data_of, answer)}
    return [
        Section("Answer", [table], notes=_notes(answer), data=data, leads=True),
        *_curve(answer),
        *_stability(answer),
        *_pairs(answer),
        _tried(answer),
        *_columns(answer),
    ]


def lines_of(answer: Answer) -> list[tuple[str, str]]:
    """Return the answer, a line per question."""
    lines = [("table", _table(answer))]
    if not answer.beats_constant:
        lines.append(
            ("result", "no evidence that any feature helps: the interval of the score includes the constant's")
        )
    elif answer.over_all is not None and answer.over_all.low <= 0.0:
        lines.append(("result", "no evidence that selection improves the score over all features"))
    elif answer.over_all is not None:
        lines.append(("result", "selecting features improves the score over all features"))
    if answer.enough is not None and answer.best_selecting is not None:
        lines.append(("features", _features(answer)))
        lines.append(("enough", _enough(answer)))
    lines.append(("score", f"{_metric(answer)} {_share(answer, answer.score)} on new rows: {answer.chosen.name}"))
    for name, interval in (("all features", answer.over_all), ("random features", answer.over_random)):
        if interval is not None:
            lines.append((name, f"selecting gains {_gain(answer, interval)}"))
    lines.append(("constant", _constant(answer)))
    lines.append(("not separable", _equals(answer)))
    if answer.table.get("has_pairs"):
        lines.append(("only together", _together(answer)))
    lines.append(("undecided", "; ".join(undecided(answer)) or "none of these questions"))
    return lines


def data_of(answer: Answer) -> dict[str, Any]:
    """Return the answer as plain values."""
    return {
        "rows": answer.n_rows,
        "features": answer.n_features,
        "metric": answer.metric,
        "repeats": answer.n_repeats,
        "chosen": answer.chosen.name,
        "score": _plain(answer.score),
        "constant": answer.constant,
        "enough": None if answer.enough is None else answer.enough.name,
        "selected": [{"feature": name, "share": share} for name, share in answer.features],
        "gain_over_all_features": _plain(answer.over_all),
        "gain_over_random_features": _plain(answer.over_random),
        "not_separable": [one.name for one in answer.equals],
        "pairs": [vars(pair) for pair in answer.pairs],
        "undecided": undecided(answer),
        "columns": answer.table.get("taken", {}),
        "lines": dict(lines_of(answer)),
    }


def _plain(interval: Interval | None) -> dict[str, float] | None:
    return None if interval is None else {"value": interval.value, "low": interval.low, "high": interval.high}


def _metric(answer: Answer) -> str:
    return {"r2": "R²"}.get(answer.metric, answer.metric.replace("_", " "))


def _size(answer: Answer, value: float, sign: str = "") -> str:
    text = f"{100 * value:{sign}.1f}" if answer.is_percent else f"{value:{sign}.3f}"
    return text.replace("-", "−")


def _share(answer: Answer, interval: Interval) -> str:
    unit = " %" if answer.is_percent else ""
    return f"{_size(answer, interval.value)}{unit} [{_size(answer, interval.low)}, {_size(answer, interval.high)}]"


def _constant(answer: Answer) -> str:
    if not answer.is_percent:
        return _size(answer, answer.constant)
    hint = "; --metric balanced_accuracy counts each class alike" if answer.constant >= _RARE else ""
    return f"{_size(answer, answer.constant)} %{hint}"


def _gain(answer: Answer, interval: Interval) -> str:
    unit = " points" if answer.is_percent else ""
    low, high = _size(answer, interval.low, "+"), _size(answer, interval.high, "+")
    return f"{_size(answer, interval.value, '+')} [{low}, {high}]{unit}"


def _table(answer: Answer) -> str:
    parts = [counted(answer.n_rows, "row"), counted(answer.n_features, "feature")]
    if answer.classes:
        total = sum(answer.classes.values())
        common = sorted(answer.classes.items(), key=lambda item: -item[1])
        shown = ", ".join(f"{name}: {100 * count / total:.0f} %" for name, count in common[:3])
        parts.append(f"{len(common)} classes ({shown}{', …' if len(common) > 3 else ''})")
    elif low_high := answer.table.get("range"):
        parts.append(f"a number from {low_high[0]:g} to {low_high[1]:g}")
    missing = answer.table.get("missing")
    if missing is not None:
        parts.append(f"{100 * missing:.1f} % missing" if missing else "no missing values")
    return ", ".join(parts)


def _features(answer: Answer) -> str:
    assert answer.enough is not None
    shown = answer.features[: min(_SHOWN, max(answer.enough.size, 3))]
    return ", ".join(f"{name} {100 * share:.0f} %" for name, share in shown)


def _enough(answer: Answer) -> str:
    assert answer.enough is not None and answer.best_selecting is not None
    enough, best = answer.enough, answer.best_selecting
    text = f"{counted(enough.size, 'feature')} ({enough.name}: {_size(answer, answer.mean(enough))})"
    if enough != best:
        behind = _gain(answer, gap(answer, enough, best))
        text += f", within a standard error of {best.name}: {behind}"
    return text


def _equals(answer: Answer) -> str:
    if not answer.equals:
        return "none: every other pipeline is significantly worse"
    total = sum(one.selector != RANDOM for one in answer.pipelines) - 1
    ordered = sorted(answer.equals, key=lambda one: -answer.mean(one))
    more = ", …" if len(ordered) > _EQUALS else ""
    names = ", ".join(one.name for one in ordered[:_EQUALS])
    return f"{len(answer.equals)} of the {total} other pipelines are not significantly worse: {names}{more}"


def _together(answer: Answer) -> str:
    alone = [pair for pair in answer.pairs if pair.alone]
    if not answer.pairs:
        return "no pair of features interacts significantly"
    names = listing([f"{pair.first} × {pair.second}" for pair in (alone or answer.pairs)[:3]])
    if not alone:
        return f"none; pairs that interact, of features that matter by themselves: {names}"
    return f"{names}: significant together, not by themselves"


def _notes(answer: Answer) -> list[str]:
    notes = [
        f"Features: the share of {answer.n_repeats * answer.scores.folds} folds that selected each. The score is what "
        "to expect of the best of all pipelines, chosen on this table and fitted to all of it: bootstrap "
        "bias-corrected cross-validation, with a 95 % interval that allows for the rows that training parts share. "
        f"{_width(answer)}",
        "Enough: the smallest number of features with which a pipeline is within one standard error of the best that "
        "selects. Not separable: not significantly worse at 5 %, by Holm's procedure over all pipelines.",
    ]
    if answer.failed:
        more = f" and {len(answer.failed) - _EQUALS} more" if len(answer.failed) > _EQUALS else ""
        notes.append(f"Left out, for lack of results: {', '.join(answer.failed[:_EQUALS])}{more}.")
    notes += [str(remark) for remark in answer.table.get("remarks", [])]
    return notes


def _width(answer: Answer) -> str:
    if not answer.is_percent:
        return ""
    points = 100 * (answer.score.high - answer.score.low)
    shape = f"With {counted(answer.n_rows, 'row')} it is {points:.0f} points wide;"
    if answer.n_repeats < REPEATS:
        return f"{shape} with {REPEATS} repeats instead of {answer.n_repeats} it would be narrower."
    return f"{shape} no method can make it much narrower."


def _curve(answer: Answer) -> list[Section]:
    frame = curve_frame(answer)
    if frame.empty:
        return []
    chart = Chart(
        "selection-size",
        "Score by number of features",
        "Mean over all folds, by selector. Grey: random features. The line is the best learner with all features.",
        spec=partial(_specify_curve, answer, frame),
        alt=partial(_describe_curve, answer, frame),
    )
    sizes = sorted(frame["size"].unique())
    kinds = frame.drop_duplicates(["selector", "learner"])[["selector", "learner"]].to_records(index=False)
    means = frame.set_index(["selector", "learner", "size"])["score"]
    rows = []
    for selector, learner in kinds:
        values = [means.get((selector, learner, size), np.nan) for size in sizes]
        rows.append([Cell(f"{selector} + {learner}"), *(Cell(_size(answer, v) if v == v else "–") for v in values)])
    table = Table(["features", *map(str, sizes)], rows)
    return [Section("How many features", [table], [chart])]


def curve_frame(answer: Answer) -> pd.DataFrame:
    """Return one row per pipeline with a number of features."""
    rows = []
    for one in answer.pipelines:
        if one.selector == ALL:
            continue
        selector = "random" if one.selector == RANDOM else one.name.partition(f" {one.size} + ")[0]
        learner = one.name.partition(" + ")[2] or one.learner
        rows.append((selector, learner, one.size, answer.mean(one)))
    return pd.DataFrame(rows, columns=["selector", "learner", "size", "score"])


def _specify_curve(answer: Answer, frame: pd.DataFrame) -> Any:
    import altair as alt

    factor = 100.0 if answer.is_percent else 1.0
    best = frame.groupby(["selector", "size"], sort=False, as_index=False)["score"].max()
    best["score"] *= factor
    selectors = [name for name in best["selector"].unique() if name != "random"]
    palette = ["#1f5fa8", "#c0562b", "#2f7d55", "#8a4fa0", "#a58a1c", "#4d4d4d"][: len(selectors)]
    colour = alt.Color(
        "selector:N", title=None, scale=alt.Scale(domain=[*selectors, "random"], range=[*palette, "#b5b5b5"])
    )
    title = f"{_metric(answer)} of its best learner{', %' if answer.is_percent else ''}"
    sizes = sorted(int(size) for size in best["size"].unique())
    base = alt.Chart(best).encode(
        x=alt.X(
            "size:Q", title="features", scale=alt.Scale(type="log", nice=False), axis=alt.Axis(values=sizes, grid=False)
        ),
        y=alt.Y("score:Q", title=title, scale=alt.Scale(zero=False)),
        color=colour,
        tooltip=["selector:N", "size:Q", alt.Tooltip("score:Q", format=".3f")],
    )
    layers = [base.mark_line(opacity=0.8), base.mark_circle(size=36)]
    whole = [answer.mean(one) for one in answer.pipelines if one.selector == ALL]
    if whole:
        line = pd.DataFrame({"score": [factor * max(whole)]})
        layers.insert(0, alt.Chart(line).mark_rule(strokeDash=[4, 3], color="#777777").encode(y="score:Q"))
    return alt.layer(*layers).properties(width=560, height=280)


def _describe_curve(answer: Answer, frame: pd.DataFrame) -> str:
    best = frame.sort_values("score", kind="stable").iloc[-1]
    return (
        f"{_metric(answer)} by number of features for {counted(frame['selector'].nunique(), 'selector')}; highest with "
        f"{counted(int(best['size']), 'feature')} by {best['selector']}, {_size(answer, best['score'])}."
    )


def _stability(answer: Answer) -> list[Section]:
    if not answer.features or answer.enough is None:
        return []
    shown = answer.features[:_FEATURES]
    rows = [[Cell(name), Cell(f"{100 * share:.0f} %")] for name, share in shown]
    frame = pd.DataFrame(shown, columns=["feature", "share"])
    chart = Chart(
        "selection-shares",
        "Share of folds that select a feature",
        f"By {answer.enough.name}. A feature that few folds select is not known to matter more than others.",
        spec=partial(_specify_shares, frame),
        alt=lambda: ", ".join(f"{name} {100 * share:.0f} %" for name, share in shown),
    )
    more = len(answer.features) - len(shown)
    notes = [f"{counted(more, 'feature')} more selected in some fold."] if more > 0 else []
    return [Section("Features", [Table(["feature", "folds"], rows)], [chart], notes)]


def _specify_shares(frame: pd.DataFrame) -> Any:
    import altair as alt

    shown = frame.assign(share=100 * frame["share"])
    return (
        alt.Chart(shown)
        .mark_bar(color="#1f5fa8")
        .encode(
            x=alt.X("share:Q", title="folds, %", scale=alt.Scale(domain=[0, 100])),
            y=alt.Y("feature:N", title=None, sort=None),
            tooltip=["feature:N", alt.Tooltip("share:Q", format=".0f")],
        )
        .properties(width=420, height=alt.Step(16))
    )


def _pairs(answer: Answer) -> list[Section]:
    if not answer.pairs:
        return []
    rows = [
        [
            Cell(f"{pair.first} × {pair.second}"),
            Cell(f"{pair.p_value:.2g}"),
            Cell("neither" if pair.alone else "at least one"),
        ]
        for pair in answer.pairs[:_PAIRS]
    ]
    note = (
        "Features are divided at their quantiles; the joint effect on the target is tested against the sum of single "
        "effects (likelihood ratio), with Bonferroni's correction over all pairs. "
        f"{counted(len(answer.pairs), 'pair')} {'is' if len(answer.pairs) == 1 else 'are'} significant at 5 %."
    )
    return [Section("Pairs", [Table(["pair", "adjusted p", "significant by itself"], rows)], notes=[note])]


def _tried(answer: Answer) -> Section:
    best = answer.position(answer.chosen)
    rows = []
    for k in np.argsort(-answer.scores.scores, kind="stable"):
        one = answer.pipelines[k]
        if one == answer.chosen:
            rows.append([Cell(one.name), Cell(_size(answer, answer.mean(one)), "best"), Cell("chosen")])
            continue
        p, interval = p_worse(answer.scores, int(k), best), gap(answer, one, answer.chosen)
        role = "not-worse" if one in answer.equals else "plain"
        text = _size(answer, answer.mean(one)) + (" ≈" if role == "not-worse" else "")
        rows.append([Cell(one.name), Cell(text, role), Cell(f"{_gain(answer, interval)}; p = {p:.2g}")])  # type: ignore[arg-type]
    table = Table(["pipeline", _metric(answer), "behind the chosen one"], rows, wrap=2)
    note = "≈: not significantly worse than the chosen one. Means of the pipelines; that of the best one is optimistic."
    return Section("What was tried", [table], notes=[note])


def _columns(answer: Answer) -> list[Section]:
    taken = answer.table.get("taken", {})
    if not taken:
        return []
    rows = []
    for kind in dict.fromkeys(taken.values()):
        names = [str(name) for name, own in taken.items() if own == kind]
        more = f" and {len(names) - _FEATURES} more" if len(names) > _FEATURES else ""
        rows.append([Cell(str(kind)), Cell(str(len(names))), Cell(f"{', '.join(names[:_FEATURES])}{more}")])
    table = Table(["taken for", "number", "columns"], rows, wrap=2)
    return [Section("What the columns were taken for", [table])]
