"""Datasets of the UCI Machine Learning Repository by number; and what both network sources do with a table.

UCI describes each dataset in JSON (``/api/dataset?id=53``) with the role and the type of each column, and offers most
as one CSV file. Its own package, ucimlrepo, asks the same endpoint, but without time-outs, retries or limits of size,
and cannot be pointed at another server, so `mfbench.data.download` does the talking here.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mfbench.data.conform import drop_columns
from mfbench.data.download import (
    Policy,
    Progress,
    Received,
    RefusedError,
    answer_of,
    fetch_file,
    fetch_json,
    plain_text,
    shown,
)
from mfbench.data.files import read_file
from mfbench.errors import DataError, MfbenchError, UnknownNameError, UsageError
from mfbench.models import Dataset

UCI_VARIABLE = "MFBENCH_UCI_URL"
_UCI = "https://archive.ics.uci.edu"

Card = dict[str, Any]


def load_uci(
    uci_id: int | str,
    *,
    target: str | None = None,
    categorical: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    policy: Policy | None = None,
    progress: Progress | None = None,
) -> tuple[Dataset, Card]:
    """Download a dataset of the UCI repository.

    Columns whose role is not "Feature" (identifiers, further targets, "Other") are left out. Columns of the types
    "Categorical" and "Binary", and all columns of words, are categorical.

    Parameters
    ----------
    uci_id : int or str
        The dataset's number, as in ``https://archive.ics.uci.edu/dataset/53``.
    target : str or None, default=None
        The column of class labels; the one that UCI names if None.
    categorical : sequence of str or None, default=None
        Columns that hold categories, in place of UCI's types.
    drop : sequence of str, default=()
        Further columns to leave out, before anything is decided about them.
    policy : Policy or None, default=None
        Limits of size, time and attempts.
    progress : Progress or None, default=None
        Told how much of the table has arrived.

    Returns
    -------
    dataset : Dataset
    card : dict
        See `card_of`.

    Raises
    ------
    UsageError
        If the number is none, a named column does not exist, or UCI names no target or several and `target` is None.
    DataError
        If there is no such dataset, it is not offered as one table, or that is damaged or not for classification.
    DataUnavailableError
        If UCI cannot be reached.
    """
    if not re.fullmatch(r"[1-9][0-9]{0,8}", str(uci_id)):
        raise UsageError(f"{str(uci_id)!r} is no number of a UCI dataset: use one such as 53")
    what = f"UCI dataset {uci_id}"
    server = (os.environ.get(UCI_VARIABLE) or _UCI).rstrip("/")
    described = _describe(f"{server}/api/dataset?id={uci_id}", what, policy)
    with answer_of("UCI", what):
        roles = {str(column["name"]): str(column.get("role")) for column in described["variables"]}
        types = {str(column["name"]): str(column.get("type")) for column in described["variables"]}
        data_url = str(described["data_url"])
        citation = _citation(described)
    declared = [name for name, role in roles.items() if role == "Target"]
    label = choose_target(what, declared, roles, target)
    if categorical is None:
        categorical = [name for name, kind in types.items() if kind in ("Categorical", "Binary")]
    page = f"{_UCI}/dataset/{uci_id}"
    dataset, received = fetch_table(
        data_url,
        ".csv",
        what=what,
        target=label,
        categorical=categorical,
        drop=[*drop, *(name for name, role in roles.items() if role != "Feature")],
        known=roles,
        policy=policy,
        progress=progress,
    )
    missing = [
        name for name in roles if name not in (*dataset.feature_names, label, *drop) and roles[name] == "Feature"
    ]
    if missing:
        raise DataError(f"the table of {what} at {shown(data_url)} lacks {missing[0]!r}, which its description names")
    dataset = replace(
        dataset,
        name=f"uci:{uci_id}",
        source=f"UCI dataset {uci_id} ({plain_text(described.get('name'), 100)}), {page}",
        license=plain_text(described.get("license") or described.get("licence")) or f"see {page}",
        citation=citation,
    )
    return dataset, card_of(dataset, received, url=data_url, target=label)


def _describe(url: str, what: str, policy: Policy | None) -> dict[str, Any]:
    """Return what UCI says about a dataset, if it offers a table of it."""
    answer = fetch_json(url, what=f"the description of {what}", policy=policy)
    with answer_of("UCI", what):
        if int(answer.get("status", 200)) != 200:
            message = plain_text(answer.get("message"), 200) or "no reason given"
            raise RefusedError(f"there is no {what} ({message}): check the number", int(answer["status"]), message)
        described: dict[str, Any] = dict(answer["data"])
        if not described.get("data_url"):
            reason = f"{what} ({plain_text(described.get('name'), 100)}) is not offered as one table"
            raise DataError(f"{reason}: download its files from {_UCI}, and use 'file:PATH' on the one you need")
    return described


def _citation(described: dict[str, Any]) -> str:
    """Return how to cite a dataset, and the paper that introduced it where UCI knows one."""
    creators = described.get("creators") or []
    authors = ", ".join(map(str, creators)) if isinstance(creators, list) else str(creators)
    year = described.get("year_of_dataset_creation") or "n.d."
    doi = described.get("dataset_doi")
    text = f"{authors} ({year}). " if authors else ""
    text += f"{described.get('name')} [Dataset]. UCI Machine Learning Repository."
    text += f" https://doi.org/{doi}" if doi else ""
    paper = described.get("intro_paper")
    if isinstance(paper, dict) and paper.get("title"):
        where = ", ".join(str(paper[key]) for key in ("venue", "year") if paper.get(key))
        text += f" Introduced in: {paper.get('authors') or ''}: {paper['title']}. {where}"
    return plain_text(text, 1000)


def choose_target(what: str, declared: Sequence[str], known: Collection[str], target: str | None) -> str:
    """Return the label column: the one asked for, or the only one that the repository declares."""
    if target is not None:
        if known and target not in known:
            raise UnknownNameError("target column", target, known, f"in {what}")
        return target
    if len(declared) == 1:
        return declared[0]
    if not declared:
        listed = ", ".join(list(known)[:20]) or "see its page"
        raise UsageError(f"{what} declares no target: name one of its columns as 'target' ({plain_text(listed)})")
    listed = plain_text(", ".join(map(repr, declared)))
    raise UsageError(f"{what} declares {len(declared)} targets: name one of {listed} as 'target'")


def fetch_table(
    url: str,
    extension: str,
    *,
    what: str,
    target: str,
    categorical: Sequence[str],
    drop: Collection[str],
    known: Collection[str],
    md5: str | None = None,
    policy: Policy | None = None,
    progress: Progress | None = None,
) -> tuple[Dataset, Received]:
    """Download a table into a folder of its own, read it, and leave columns out.

    Parameters
    ----------
    url, what, md5, policy, progress : optional
        As for `fetch_file`.
    extension : str
        One that `read_file` knows; nothing of the server's names is used as a path.
    target : str
        The label column; left in even if `drop` names it.
    categorical : sequence of str
        Columns that hold categories though they look like numbers.
    drop : collection of str
        Columns to leave out; names of no column are passed over.
    known : collection of str
        The columns that the repository says there are; empty if it does not say.

    Returns
    -------
    dataset : Dataset
    received : Received
        Of the downloaded file.
    """
    unknown = next((name for name in categorical if known and name not in known), None)
    if unknown is not None:
        raise UnknownNameError("categorical column", unknown, known, f"in {what}")
    # A column to be dropped may be one that read_file would refuse, such as identifiers: listed, it is not judged.
    listed = [*categorical, *(name for name in drop if name in known)]
    with tempfile.TemporaryDirectory(prefix="mfbench-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / f"data{extension}"
        received = fetch_file(url, path, what=f"the table of {what}", policy=policy, md5=md5, progress=progress)
        try:
            dataset = read_file(path, target=target, categorical=listed)
        except MfbenchError as error:
            reason = str(error).replace(str(path), f"the table of {what} at {shown(url)}")
            raise DataError(f"{what} cannot be used: {reason}") from error
    if all(name in drop for name in dataset.feature_names):
        raise DataError(f"{what} has no feature besides its target and the columns that are left out")
    return drop_columns(dataset, list(drop)), received


def card_of(dataset: Dataset, received: Received, *, url: str, target: str, md5: str | None = None) -> Card:
    """Return what the cache keeps beside the data, as JSON can hold it.

    Parameters
    ----------
    dataset : Dataset
        With its provenance.
    received : Received
        Of the downloaded file.
    url : str
        Where that came from.
    target : str
        The label column.
    md5 : str or None, default=None
        The checksum that the repository publishes, which the file had.

    Returns
    -------
    dict
        ``source``, ``licence``, ``citation``, ``url``, ``checksum`` (SHA-256 of the downloaded file), ``md5`` if
        published, ``target``, ``categorical`` (names of columns), ``n_samples``, ``n_features``, ``n_classes`` and
        ``retrieved`` (ISO date).
    """
    card = {"source": dataset.source, "licence": dataset.license, "citation": dataset.citation, "url": shown(url)}
    columns = zip(dataset.feature_names, dataset.categorical, strict=True)
    return {
        **card,
        "checksum": received.sha256,
        **({"md5": received.md5} if md5 else {}),
        "target": target,
        "categorical": [name for name, is_categorical in columns if is_categorical],
        "n_samples": dataset.n_samples,
        "n_features": dataset.n_features,
        "n_classes": dataset.n_classes,
        "retrieved": datetime.now(UTC).date().isoformat(),
    }
