"""Whether a run's verdicts would change if repeated results replaced the claimed ones."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping
from pathlib import Path

from mfbench.base.text import plain_text
from mfbench.errors import UsageError, describe_error
from mfbench.report.present import Run
from mfbench.run.store.checksums import TRIAL_COLUMNS
from mfbench.run.store.store import Store
from mfbench_claims.archive import REFUSED
from mfbench_claims.reading import OpenedBundle

_DATA = ("truth", "relevant", "interactions", "n_samples")
_RESULT = [name for name in TRIAL_COLUMNS if name not in ("key", "seed")]


def claimed_run(bundle: OpenedBundle) -> Run:
    """Return the run of a bundle, readable while the bundle is open."""
    try:
        run = Run(bundle.folder, bundle=bundle.path, claims=(bundle.name,))
        verdicts_of(run)
    except Exception as error:  # the computation uses values chosen by the bundle's author
        reason = one_line(error)
        raise UsageError(f"{bundle.path}{REFUSED}no report can be made of its results ({reason})") from error
    return run


def one_line(error: Exception) -> str:
    """Return an error as one short line."""
    return plain_text(describe_error(error), 300).replace("\n", " ")


def verdicts_of(run: Run) -> dict[str, str]:
    """Return a run's verdicts on its methods, by subject."""
    settings = run.settings
    verdicts = {}
    for row in run.wins_ties_losses().to_dict("records"):
        subject = f"{settings.reference} against {row['method']} on {row['dataset']}"
        verdicts[subject] = str(row["verdict"])
        # Always include both, so that a change by one rule does not make the other's verdict appear or vanish.
        verdicts[f"{subject}, by the rule to trust"] = str(row["sound"])
    overall = run.overall()
    claims = overall.claims
    for frame, column, where in (
        (claims.these, "holm", "on these datasets"),
        (claims.like_these, "named", "on datasets like these"),
    ):
        tested = frame[frame[column].notna()] if overall.n_datasets > 1 else frame.iloc[:0]
        for row in claims.against(str(settings.reference), tested).to_dict("records"):
            verdict = ("better" if row["mean"] > 0 else "worse") if row[column] < settings.alpha else "not separated"
            verdicts[f"{row['first']} against {row['second']} {where}"] = verdict
    if overall.friedman is not None:
        rejects = overall.friedman.p_value < settings.alpha
        verdicts["all methods across datasets"] = "a significant difference" if rejects else "no significant difference"
    return verdicts


def changed_verdicts(claimed: Mapping[str, str], repeated: Mapping[str, str]) -> list[str]:
    """Return a clause on each verdict that differs."""
    nothing = "no verdict"
    subjects = dict.fromkeys([*claimed, *repeated])
    pairs = {subject: (claimed.get(subject, nothing), repeated.get(subject, nothing)) for subject in subjects}
    return [f"{subject}: {before} becomes {after}" for subject, (before, after) in pairs.items() if before != after]


def with_repeated(
    claimed: Path, repeated: Path, keys: Mapping[str, str], target: Path, dropped: Collection[str] = ()
) -> Run:
    """Return a run in which repeated results, on the repetition's data, replace the claimed ones."""
    shutil.copytree(claimed, target)
    with Store(repeated, read_only=True) as source:
        rows = {row[0]: row[1:] for row in source.raw(f"SELECT key, {', '.join(_RESULT)} FROM trials")}
        data = list(source.raw(f"SELECT {', '.join(_DATA)}, label FROM datasets"))
        splits = list(source.raw("SELECT test, train, validation, sha256, repeat, fold FROM splits"))
    with Store(target) as store, store.writing("datasets", "splits") as db:
        db.executemany(f"UPDATE datasets SET {', '.join(f'{name} = ?' for name in _DATA)} WHERE label = ?", data)
        assignment = "SET test = ?, train = ?, validation = ? WHERE sha256 = ? AND repeat = ? AND fold = ?"
        if len({row[3] for row in splits}) == len(data):  # datasets with equal content have their own splits
            db.executemany(f"UPDATE splits {assignment}", splits)
        assignments = ", ".join(f"{name} = ?" for name in (*_RESULT, "checksum"))
        db.executemany(
            f"UPDATE trials SET {assignments} WHERE key = ?",
            [(*rows[key], None, claimed_key) for claimed_key, key in keys.items()],
        )
        db.executemany("DELETE FROM trials WHERE key = ?", [(key,) for key in dropped])
    return Run(target)
