"""Remarks: omissions, and trials that failed, are pending, changed shared state or raised warnings."""

import shlex
from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from mfbench.base.text import counted, listing, plain_text
from mfbench.model.sections import Section
from mfbench.model.trials import Unavailable
from mfbench.report.sections.scores import compared_folds, not_run_yet
from mfbench.run.store.metadata import RunMetadata
from mfbench.stats.results import Run

LONGEST_MESSAGE = 200
MOST_NAMED = 3


def remarks(run: Run) -> Section:
    """Return the section on omissions, pending trials, failures, changes of shared state and warnings."""
    pending = [*not_run_yet(run), *compared_folds(run.coverage, run.protocol.trial_name)]
    return Section(
        "Remarks",
        notes=[
            *([] if len(run.outcomes) else ["No trials: there was nothing to measure."]),
            *run.remarks,
            *restriction(run.meta),
            *sampled_rows(run),
            *_machines(run.meta.machines),
            *left_out(run.left_out, run.unavailable, run.meta.command[2]),
            *unsuited(run.meta),
            *dropped_classes(run.meta),
            *own_splits(run.meta),
            *_weights(run.meta),
            *_feature_groups(run.meta),
            *_undefined(run.scores, run.settings.metric, run.detects),
            *pending,
            *(["All figures are computed from the trials that have run."] if pending else []),
            *_failures(run.failures),
            *_touched(run.outcomes),
            *_warnings(run.outcomes),
        ],
        data={
            "left_out": lambda: run.left_out,
            "unsuited": lambda: run.meta.unsuited,
            "needs_dense": lambda: run.meta.needs_dense,
            "dropped_classes": lambda: run.meta.dropped_classes,
            "feature_groups": lambda: run.meta.feature_groups,
            "unavailable": lambda: list(run.unavailable),
            "failures": lambda: run.failures,
            "not_run": lambda: run.n_pending,
            "ended_budget": lambda: run.meta.ended_budget or None,
            "coverage": lambda: run.coverage,
        },
    )


def restriction(meta: RunMetadata, join: Callable[[Sequence[str]], str] = ", ".join) -> list[str]:
    """Return a sentence on the options that restrict a run to part of its suite; empty for the whole suite."""
    options = [f"--part {meta.part}"] if meta.part else []
    options += [f"--only {join(meta.only)}"] if meta.only else []
    return [f"A part of the suite: {' '.join(options)}."] if options else []


def sampled_rows(run: Run, join: Callable[[Sequence[str]], str] = listing) -> list[str]:
    """Return a sentence on the datasets with sampled training rows; empty if there are none."""
    limit = run.meta.protocol.max_rows
    if limit is None:
        return []
    tested = run.sizes.groupby("dataset")["n_test"].min()
    parts = (run.datasets.set_index("dataset")["n_samples"] - tested).dropna().astype(int)
    sampled = [f"{limit:,} of {rows:,} of {dataset}" for dataset, rows in parts.items() if rows > limit]
    return [f"Training rows are sampled in each fold (max_rows): {join(sampled)}."] if sampled else []


def own_splits(meta: RunMetadata) -> list[str]:
    """Return a sentence on the splits of each dataset with a splitter, and one on classes that were not trained on."""
    lines = []
    for dataset, own in meta.splits.items():
        times = f"{own.repeats} × " if own.repeats > 1 else ""
        tuned = f", tuned on {counted(own.validation, 'validation row')}" if own.validation else ""
        lines.append(f"{dataset}: {times}{counted(own.folds, 'fold')} by {own.splitter}{tuned}.")
        if own.unseen:
            them = f"class {own.unseen[0]}" if len(own.unseen) == 1 else f"classes {listing(own.unseen)}"
            lines.append(
                f"{dataset}: a fold tests rows of {them} without a training row of it, so no method can be right."
            )
    return lines


def _weights(meta: RunMetadata) -> list[str]:
    """Return a sentence on the datasets with sample weights, and one on what ignores them."""
    if not meta.with_weights:
        return []
    ignored = [f"Sample weights are ignored by: {', '.join(meta.unweighted)}."] if meta.unweighted else []
    return [f"Rows have weights in fits and scores: {', '.join(meta.with_weights)}.", *ignored]


def _feature_groups(meta: RunMetadata) -> list[str]:
    """Return a line for each dataset with features that are selected together."""
    return [
        f"{dataset}: features are selected together, and a group counts as one: "
        f"{listing([f'{group} ({n:,})' for group, n in groups.items()])}."
        for dataset, groups in meta.feature_groups.items()
    ]


def _machines(machines: Mapping[str, str]) -> list[str]:
    """Return a sentence if a run's times come from several machines."""
    if len(machines) < 2:
        return []
    kinds = sorted(set(machines.values()))
    same = f"all of one kind ({kinds[0]})"
    if len(kinds) > 1:
        same = f"of {len(kinds)} kinds, which do not compare: {'; '.join(kinds)}"
    return [f"Times were measured on {len(machines)} machines, {same}."]


def left_out(reasons: Mapping[str, str], unavailable: Mapping[str, Unavailable], suite: str) -> list[str]:
    """Return why datasets are left out; unavailable ones share a sentence with the command to obtain them."""
    lines = [f"Left out: {dataset}: {reason}" for dataset, reason in reasons.items() if dataset not in unavailable]
    pulled = [dataset for dataset, why in unavailable.items() if why.can_pull]
    others = [dataset for dataset in unavailable if dataset not in pulled]
    if pulled:
        command = shlex.join(["mfbench", "datasets", "pull", suite])
        lines.append(
            f"Left out as unavailable: {', '.join(pulled)}; to download, run: {command}, or name a mirror with "
            "--data-dir"
        )
        attempt = next((why.attempt for why in unavailable.values() if why.attempt), "")
        lines += [f"The download failed: {attempt}"] if attempt else []
    if others:
        them = "it" if len(others) == 1 else "them"
        lines.append(
            f"Left out as unavailable: {', '.join(others)}; no known repository has {them}: name a mirror that does "
            f"with --data-dir, or import {them} with: mfbench datasets import"
        )
    return lines


def unsuited(meta: RunMetadata) -> list[str]:
    """Return a line for each method that was left out of datasets of more classes, or sparse ones."""
    return [
        f"Left out: {method} on {listing(datasets)}: it is for {what}."
        for what, datasets_of in (
            ("two classes, by scikit-learn's tag multi_class", meta.unsuited),
            ("dense data, by scikit-learn's tag sparse", meta.needs_dense),
        )
        for method, datasets in datasets_of.items()
    ]


def dropped_classes(meta: RunMetadata, most: int | None = None) -> list[str]:
    """Return a sentence on the classes that the suite drops, by dataset; beyond `most`, only the number."""
    parts = []
    for dataset, classes in meta.dropped_classes.items():
        named = most is None or len(classes) <= most
        words = [f"{name!r} ({counted(n, 'row')})" for name, n in classes.items()]
        many = f"{len(classes)} classes ({counted(sum(classes.values()), 'row')})"
        parts.append(f"{listing(words) if named else many} of {dataset}")
    return [f"Classes dropped, because the suite keeps the two largest: {'; '.join(parts)}."] if parts else []


def _undefined(scores: pd.DataFrame, metric: str, detects: bool) -> list[str]:
    """Return a line for each group of methods without a score on the same datasets."""
    incomplete = scores[scores["completed"].eq(scores["planned"]) & ~scores["complete"].astype(bool)]
    groups: dict[tuple[str, ...], list[str]] = {}
    for method, cells in incomplete.groupby("method", sort=False):
        groups.setdefault(tuple(cells["dataset"]), []).append(str(method))
    reason = "the classifier does not provide what the metric needs, a test part lacks a class, or the metric failed"
    if detects:
        reason = "the metric needs features that are relevant and features that are not"
    return [
        f"Undefined: {metric} of {_few(methods, 'method')} on {_few(datasets, 'dataset')}; {reason}."
        for datasets, methods in groups.items()
    ]


def _few(names: Sequence[str], noun: str) -> str:
    return listing(names) if len(names) <= MOST_NAMED else counted(len(names), noun)


def _failures(failures: pd.DataFrame) -> list[str]:
    groups = failures.groupby(["dataset", "method", "status"], sort=False)
    return [
        f"Failed: {method} on {dataset}: {len(group)} × {status}: {group['error_type'].iloc[0]}: "
        f"{_one_line(group['error_message'].iloc[0])}"
        for (dataset, method, status), group in groups
    ]


def marked_trials(outcomes: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return the trials that changed global state ("touched") or raised warnings ("n_warnings")."""
    values = outcomes[column].astype(object) if column in outcomes else pd.Series(None, outcomes.index, dtype=object)
    return outcomes[values.notna() & values.ne(0)]


def _touched(outcomes: pd.DataFrame) -> list[str]:
    return [
        f"Changed global state: {method}: in {counted(len(group), 'trial')}, for example "
        f"{_one_line(group['touched'].iloc[0])}; its worker was replaced, so that no other trial is affected."
        for method, group in marked_trials(outcomes, "touched").groupby("method", sort=False)
    ]


def _warnings(outcomes: pd.DataFrame) -> list[str]:
    return [
        f"Warnings: {method}: in {counted(len(group), 'trial')}, for example {_one_line(group['warning'].iloc[0])}"
        for method, group in marked_trials(outcomes, "n_warnings").groupby("method", sort=False)
    ]


def _one_line(text: object) -> str:
    # Missing entries in a string column are None or, in pandas, NaN.
    return (plain_text(text, LONGEST_MESSAGE) if isinstance(text, str) else "") or "no message"
