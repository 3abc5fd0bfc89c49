"""The client that all repositories share: it asks a server, downloads a table, reads it and describes its origin."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from mfbench.base.untrusted import plain_text
from mfbench.data.conform import drop_columns
from mfbench.data.files import read_file
from mfbench.data.remote.answers import answer_of, shown
from mfbench.data.remote.download import Policy, Progress, Received, fetch_file, fetch_json
from mfbench.errors import DataError, MfbenchError, UnknownNameError, UsageError
from mfbench.model.specs import Dataset
from mfbench.processes.temporary import temporary_folder

Card = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class RemoteTable:
    """A table as its repository describes it."""

    what: str  # what it is, for messages: "UCI dataset 53"
    url: str  # where it is
    extension: str  # an extension that `read_file` accepts; no name that comes from the server is used as a path
    columns: Collection[str]  # the columns that the repository lists; empty if it lists none
    target: str  # the label column; kept even if `drop` names it
    categorical: Sequence[str]  # columns to treat as categorical
    drop: Collection[str]  # columns to leave out; names that are not columns are ignored
    md5: str | None = None  # the checksum that the repository publishes


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The name of a dataset, its source, its licence and how to cite it."""

    name: str
    source: str
    license: str
    citation: str


class RepositoryClient:
    """Talks to one repository."""

    def __init__(self, name: str, policy: Policy | None = None, progress: Progress | None = None) -> None:
        self.name, self.policy, self.progress = name, policy, progress

    def ask(self, url: str, what: str) -> Any:
        """Return the JSON answer behind a URL; errors as for `fetch_json`."""
        return fetch_json(url, what=what, policy=self.policy)

    def reading(self, what: str) -> AbstractContextManager[None]:
        """Return a context that turns an answer of an undocumented form into a `DataError`."""
        return answer_of(self.name, what)

    def load(self, table: RemoteTable, origin: Origin) -> tuple[Dataset, Card]:
        """Download a table, read it, and leave columns out."""
        unknown = next((name for name in table.categorical if table.columns and name not in table.columns), None)
        if unknown is not None:
            raise UnknownNameError("categorical column", unknown, table.columns, f"in {table.what}")
        data, received = self._read(table)
        if all(name in table.drop for name in data.feature_names):
            raise DataError(f"{table.what} has no feature except its target and the columns that are left out")
        data = drop_columns(data, list(table.drop))
        dataset = replace(
            data, name=origin.name, source=origin.source, license=origin.license, citation=origin.citation
        )
        return dataset, card_of(dataset, received, table)

    def _read(self, table: RemoteTable) -> tuple[Dataset, Received]:
        # `read_file` would refuse some columns that are left out, such as identifiers, if they were not categorical.
        categorical = [*table.categorical, *(name for name in table.drop if name in table.columns)]
        with temporary_folder("download") as folder:
            path = folder / f"data{table.extension}"
            what = f"the table of {table.what}"
            received = fetch_file(table.url, path, what=what, policy=self.policy, md5=table.md5, progress=self.progress)
            try:
                return read_file(path, target=table.target, categorical=categorical), received
            except MfbenchError as error:
                reason = str(error).replace(str(path), f"{what} at {shown(table.url)}")
                raise DataError(f"{table.what} cannot be used: {reason}") from error


def choose_target(what: str, declared: Sequence[str], columns: Collection[str], target: str | None) -> str:
    """Return the label column: the requested one, or the only one that the repository declares."""
    if target is not None:
        if columns and target not in columns:
            raise UnknownNameError("target column", target, columns, f"in {what}")
        return target
    if len(declared) == 1:
        return declared[0]
    if not declared:
        listed = ", ".join(list(columns)[:20]) or "see its page"
        raise UsageError(f"{what} declares no target: name one of its columns as 'target' ({plain_text(listed)})")
    listed = plain_text(", ".join(map(repr, declared)))
    raise UsageError(f"{what} declares {len(declared)} targets: name one of {listed} as 'target'")


def card_of(dataset: Dataset, received: Received, table: RemoteTable) -> Card:
    """Return the card that the cache stores alongside the data, as plain values for JSON."""
    columns = zip(dataset.feature_names, dataset.categorical, strict=True)
    return {
        "source": dataset.source,
        "licence": dataset.license,
        "citation": dataset.citation,
        "url": shown(table.url),
        "checksum": received.sha256,
        **({"md5": received.md5} if table.md5 else {}),
        "target": table.target,
        "categorical": [name for name, is_categorical in columns if is_categorical],
        "n_samples": dataset.n_samples,
        "n_features": dataset.n_features,
        "n_classes": dataset.n_classes,
        "retrieved": datetime.now(UTC).date().isoformat(),
    }
