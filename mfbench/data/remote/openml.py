"""Datasets of OpenML by number or name, and the datasets of its suites.

The openml package provides the address of the server, as the user has configured it, and `OpenMLDataset`, which holds
the description of a dataset. Its transport is not used: openml 0.15 sends requests without a timeout, reads bodies of
any length into memory, writes its cache in place (an interrupted download leaves a damaged file that later calls trust)
and caches tables as pickles. Instead, `mfbench.data.remote.download` calls the documented REST API
(https://docs.openml.org/REST-tutorial), and `mfbench.data.files` reads the table. No API key is sent: public data need
none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mfbench.base.untrusted import plain_text
from mfbench.data.remote.download import Policy, Progress, RefusedError
from mfbench.data.remote.repository import Card, Origin, RemoteTable, RepositoryClient, choose_target
from mfbench.errors import DataError, DataUnavailableError, UsageError
from mfbench.model.specs import Dataset

if TYPE_CHECKING:
    from openml.datasets import OpenMLDataset

OPENML_VARIABLE = "MFBENCH_OPENML_URL"

# OpenML's own rule for names; a version is a whole number.
_NAME = re.compile(r"([A-Za-z0-9_.\-(),]*[A-Za-z0-9_\-(),][A-Za-z0-9_.\-(),]*)(?:@([1-9][0-9]{0,5}))?")
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
_OVERLOADED = "107"

Flags = dict[str, dict[str, Any]]


def load_openml(
    reference: str | int,
    *,
    target: str | None = None,
    categorical: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    policy: Policy | None = None,
    progress: Progress | None = None,
) -> tuple[Dataset, Card]:
    """Download a dataset of OpenML."""
    # Columns that OpenML marks as row numbers, as ignored or as further targets are left out; its nominal columns are
    # categorical. The published MD5 is verified.
    client = _Client("OpenML", policy, progress)
    number = client.resolve(str(reference))
    what = f"OpenML dataset {number}"
    description = client.describe(number)
    flags = client.flags(number)
    targets = _listed(description.default_target_attribute, flags) or _flagged(flags, "is_target")
    label = choose_target(what, targets, flags, target)
    ignored = [
        *_listed(description.ignore_attribute, flags),
        *_listed(description.row_id_attribute, flags),
        *_flagged(flags, "is_ignore"),
        *_flagged(flags, "is_row_identifier"),
    ]
    table = RemoteTable(
        what=what,
        url=str(description.url),
        extension=".arff" if description.format == "arff" else ".parquet",
        columns=flags,
        target=label,
        categorical=[*(categorical or ()), *(name for name, flag in flags.items() if flag["data_type"] == "nominal")],
        drop=[name for name in (*drop, *ignored, *targets) if name != label],
        md5=plain_text(description.md5_checksum, 64),
    )
    page = f"https://www.openml.org/d/{number}"
    title = f"{plain_text(description.name, 100)}, version {description.version}"
    origin = Origin(
        name=f"openml:{number}",
        source=f"OpenML dataset {number} ({title}), {page}",
        license=plain_text(description.licence) or f"see {page}",
        citation=plain_text(description.citation, 1000) or f"{title}. OpenML. {page}",
    )
    return client.load(table, origin)


def openml_suite(reference: str | int, *, policy: Policy | None = None) -> list[int]:
    """Return the numbers of the datasets of an OpenML suite or study."""
    alias = str(reference)
    if not re.fullmatch(r"[A-Za-z0-9_\-]+", alias):
        raise UsageError(f"{alias!r} is not an OpenML suite: use its number or alias, such as 99 or OpenML-CC18")
    what = f"OpenML suite {alias}"
    client = _Client("OpenML", policy)
    answer = client.request(f"study/{alias}", what)
    with client.reading(what):
        numbers = dict.fromkeys(int(number) for number in _as_list((answer["study"].get("data") or {}).get("data_id")))
    if not numbers:
        raise DataError(f"{what} lists no datasets: check its number or alias at https://www.openml.org")
    return list(numbers)


class _Client(RepositoryClient):
    """A repository client that knows OpenML's REST API."""

    def request(self, path: str, what: str) -> Any:
        """Return the answer of the REST API; its refusals carry a code and a message in the body."""
        import json

        try:
            return self.ask(f"{_server()}/api/v1/json/{path}", what)
        except RefusedError as error:
            try:
                complaint = json.loads(error.body)["error"]
                code, message = str(complaint["code"]), plain_text(complaint["message"], 200)
            except (ValueError, TypeError, KeyError, RecursionError):
                raise error from None
            if code == _OVERLOADED:
                reason = f"cannot fetch {what}: OpenML's database is overloaded ({message})"
                remedy = "try again later, or use a mirror (--data-dir)"
                raise DataUnavailableError(reason, remedy, attempt=reason) from error
            reason = f"there is no public {what} (OpenML: {message!r}, code {code})"
            raise RefusedError(f"{reason}: check its number or name", error.status, error.body) from error

    def resolve(self, reference: str) -> int:
        """Return the number of a dataset, given its number or name."""
        if _NUMBER.fullmatch(reference):
            return int(reference)
        match = _NAME.fullmatch(reference)
        if match is None or reference.isdigit():
            raise UsageError(
                f"{reference!r} is not an OpenML dataset: use a number or a name, such as '61' or 'iris@1'"
            )
        name, version = match[1], match[2]
        what = f"OpenML dataset {reference!r}"
        # A version that is named may have been deactivated since; without one, only active versions count.
        filters = f"data_version/{version}/status/all" if version else "status/active"
        answer = self.request(f"data/list/data_name/{quote(name, safe='')}/{filters}", what)
        with self.reading(what):
            return min(int(entry["did"]) for entry in _as_list(answer["data"]["dataset"]))

    def describe(self, number: int) -> OpenMLDataset:
        """Return a description with the table to use: ARFF, which has a checksum, or Parquet if the ARFF is sparse."""
        try:
            from openml.datasets import OpenMLDataset
        except (ImportError, OSError) as error:
            raise _no_package(error) from error

        what = f"OpenML dataset {number}"
        answer = self.request(f"data/{number}", what)
        with self.reading(what):
            # The server turns an empty XML element into an empty list.
            fields: dict[str, Any] = {key: value or None for key, value in answer["data_set_description"].items()}
            if int(fields["id"]) != number:
                raise ValueError(f"id {fields['id']}")
            if str(fields["format"]).lower() != "arff":
                fields.update(url=fields.get("parquet_url"), md5_checksum=None)
            if not fields.get("url"):
                reason = f"{what} is in the format {plain_text(fields['format'], 40)!r}"
                raise DataError(f"{reason}, but only dense ARFF and Parquet are read: convert it and use 'file:PATH'")
            names = ("url", "md5_checksum", "licence", "citation", "default_target_attribute", "row_id_attribute")
            options: dict[str, Any] = {key: fields.get(key) for key in (*names, "ignore_attribute")}
            kind: Any = str(fields["format"]).lower()
            return OpenMLDataset(
                fields["name"], None, kind, dataset_id=number, version=int(fields["version"]), **options
            )

    def flags(self, number: int) -> Flags:
        """Return what OpenML records about each column; nothing for a dataset that it has not analysed."""
        what = f"the list of columns of OpenML dataset {number}"
        try:
            answer = self.request(f"data/features/{number}", what)
        except RefusedError:
            return {}
        with self.reading(what):
            columns = _as_list(answer["data_features"]["feature"])
            return {
                str(column["name"]).strip(): {**column, "data_type": str(column["data_type"])} for column in columns
            }


def _server() -> str:
    """Return the address of the server; the package's configuration has that of the XML interface."""
    address = os.environ.get(OPENML_VARIABLE)
    if not address:
        try:
            from openml import config
        except (ImportError, OSError) as error:  # importing it creates folders for its settings and its cache
            raise _no_package(error) from error
        address = config.server
    return re.sub(r"/api/v1(/.*)?$", "", address.rstrip("/"))


def _no_package(error: Exception) -> DataError:
    reason = f"the openml package cannot be imported ({plain_text(error, 200)})"
    return DataError(f"{reason}: install it ('pip install openml') and make sure that its home folder is writable")


def _flagged(flags: Flags, flag: str) -> list[str]:
    return [name for name, column in flags.items() if str(column.get(flag)).lower() == "true"]


def _listed(names: object, flags: Flags) -> list[str]:
    """Return the columns that a field names: a list, one name, or several separated by commas."""
    columns = []
    for name in map(str, _as_list(names)):
        columns += [name] if name in flags else [part.strip().strip("\"'") for part in name.split(",")]
    return [name for name in columns if name]


def _as_list(value: object) -> list[Any]:
    """Return a list: the server writes a list of one item as the item."""
    return value if isinstance(value, list) else [] if value is None else [value]
