"""Datasets of the UCI Machine Learning Repository, by number.

UCI describes each dataset in JSON (``/api/dataset?id=53``) with the role and the type of each column, and offers most
of them as one CSV file. Its own package, ucimlrepo, uses the same endpoint, but without timeouts, retries or limits of
size, and cannot be pointed to another server; so `mfbench.data.remote.download` is used instead.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

from mfbench.base.untrusted import plain_text
from mfbench.data.remote.answers import answer_of, shown
from mfbench.data.remote.download import Progress, RefusedError, fetch_json
from mfbench.data.remote.repository import Card, choose_target, load_table
from mfbench.errors import DataError, UsageError
from mfbench.model.specs import Dataset

UCI_VARIABLE = "MFBENCH_UCI_URL"
_UCI = "https://archive.ics.uci.edu"


def load_uci(
    uci_id: int | str,
    *,
    target: str | None = None,
    categorical: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    progress: Progress | None = None,
) -> tuple[Dataset, Card]:
    """Download a dataset of the UCI repository."""
    # Columns whose role is not "Feature" (identifiers, further targets, "Other") are left out. Columns of the types
    # "Categorical" and "Binary", and all columns of text, are categorical.
    if not re.fullmatch(r"[1-9][0-9]{0,8}", str(uci_id)):
        raise UsageError(f"{str(uci_id)!r} is not the number of a UCI dataset: use one such as 53")
    what = f"UCI dataset {uci_id}"
    server = (os.environ.get(UCI_VARIABLE) or _UCI).rstrip("/")
    description = _describe(f"{server}/api/dataset?id={uci_id}", what)
    with answer_of("UCI", what):
        roles = {str(column["name"]): str(column.get("role")) for column in description["variables"]}
        types = {str(column["name"]): str(column.get("type")) for column in description["variables"]}
        data_url = str(description["data_url"])
        citation = _citation(description)
    declared = [name for name, role in roles.items() if role == "Target"]
    label = choose_target(what, declared, roles, target)
    if categorical is None:
        categorical = [name for name, kind in types.items() if kind in ("Categorical", "Binary")]
    page = f"{_UCI}/dataset/{uci_id}"
    dataset, card = load_table(
        what,
        data_url,
        extension=".csv",
        columns=roles,
        target=label,
        categorical=categorical,
        drop=[*drop, *(name for name, role in roles.items() if role != "Feature")],
        progress=progress,
        name=f"uci:{uci_id}",
        source=f"UCI dataset {uci_id} ({plain_text(description.get('name'), 100)}), {page}",
        license=plain_text(description.get("license") or description.get("licence")) or f"see {page}",
        citation=citation,
    )
    expected = [name for name, role in roles.items() if role == "Feature"]
    missing = [name for name in expected if name not in (*dataset.feature_names, label, *drop)]
    if missing:
        raise DataError(f"the table of {what} at {shown(data_url)} lacks {missing[0]!r}, which its description names")
    return dataset, card


def _describe(url: str, what: str) -> dict[str, Any]:
    """Return UCI's description of a dataset, if it offers a table of it."""
    answer = fetch_json(url, what=f"the description of {what}")
    with answer_of("UCI", what):
        if int(answer.get("status", 200)) != 200:
            message = plain_text(answer.get("message"), 200) or "no reason given"
            raise RefusedError(f"there is no {what} ({message}): check the number")
        description: dict[str, Any] = dict(answer["data"])
        if not description.get("data_url"):
            reason = f"{what} ({plain_text(description.get('name'), 100)}) is not offered as one table"
            raise DataError(f"{reason}: download its files from {_UCI}, and use 'file:PATH' for the one you need")
    return description


def _citation(description: dict[str, Any]) -> str:
    """Return how to cite a dataset, with the paper that introduced it if UCI names one."""
    creators = description.get("creators") or []
    authors = ", ".join(map(str, creators)) if isinstance(creators, list) else str(creators)
    year = description.get("year_of_dataset_creation") or "n.d."
    doi = description.get("dataset_doi")
    text = f"{authors} ({year}). " if authors else ""
    text += f"{description.get('name')} [Dataset]. UCI Machine Learning Repository."
    text += f" https://doi.org/{doi}" if doi else ""
    paper = description.get("intro_paper")
    if isinstance(paper, dict) and paper.get("title"):
        where = ", ".join(str(paper[key]) for key in ("venue", "year") if paper.get(key))
        text += f" Introduced in: {paper.get('authors') or ''}: {paper['title']}. {where}"
    return plain_text(text, 1000)
