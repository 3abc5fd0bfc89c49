"""Datasets of OpenML by number or name, and the datasets of its suites.

The openml package provides the address of the server, as the user has configured it. Its transport is not used: openml
0.15 sends requests without a timeout, reads bodies of any length into memory, writes its cache in place (an interrupted
download leaves a damaged file that later calls trust) and caches tables as pickles. Instead,
`mfbench.data.remote.download` calls the documented REST API (https://docs.openml.org/REST-tutorial), and
`mfbench.data.files` reads the table. No API key is sent: public data need none.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from mfbench.base.untrusted import plain_text
from mfbench.data.remote.answers import answer_of
from mfbench.data.remote.download import Progress, RefusedError, fetch_json
from mfbench.data.remote.repository import Card, choose_target, load_table
from mfbench.errors import DataError, DataUnavailableError, UsageError
from mfbench.model.specs import Dataset

OPENML_VARIABLE = "MFBENCH_OPENML_URL"

# OpenML's own rule for names; a version is a whole number.
_NAME = re.compile(r"([A-Za-z0-9_.\-(),]*[A-Za-z0-9_\-(),][A-Za-z0-9_.\-(),]*)(?:@([1-9][0-9]{0,5}))?")
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
_OVERLOADED = "107"
_FIELDS = (
    *("id", "name", "version", "format", "url", "md5_checksum", "licence", "citation"),
    *("default_target_attribute", "row_id_attribute", "ignore_attribute"),
)

Flags = dict[str, dict[str, Any]]


def load_openml(
    reference: str | int,
    *,
    target: str | None = None,
    categorical: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    progress: Progress | None = None,
) -> tuple[Dataset, Card]:
    """Download a dataset of OpenML."""
    # Columns that OpenML marks as row numbers, as ignored or as further targets are left out; its nominal columns are
    # categorical. The published MD5 is verified.
    number = _number_of(str(reference))
    what = f"OpenML dataset {number}"
    description = _describe(number)
    flags = _flags_of(number)
    targets = _listed(description["default_target_attribute"], flags) or _flagged(flags, "is_target")
    label = choose_target(what, targets, flags, target)
    ignored = [
        *_listed(description["ignore_attribute"], flags),
        *_listed(description["row_id_attribute"], flags),
        *_flagged(flags, "is_ignore"),
        *_flagged(flags, "is_row_identifier"),
    ]
    page = f"https://www.openml.org/d/{number}"
    title = f"{plain_text(description['name'], 100)}, version {description['version']}"
    return load_table(
        what,
        str(description["url"]),
        extension=".arff" if description["format"] == "arff" else ".parquet",
        columns=flags,
        target=label,
        categorical=[*(categorical or ()), *(name for name, flag in flags.items() if flag["data_type"] == "nominal")],
        drop=[name for name in (*drop, *ignored, *targets) if name != label],
        progress=progress,
        md5=plain_text(description["md5_checksum"], 64),
        name=f"openml:{number}",
        source=f"OpenML dataset {number} ({title}), {page}",
        license=plain_text(description["licence"]) or f"see {page}",
        citation=plain_text(description["citation"], 1000) or f"{title}. OpenML. {page}",
    )


def openml_suite(reference: str | int) -> list[int]:
    """Return the numbers of the datasets of an OpenML suite or study."""
    alias = str(reference)
    if not re.fullmatch(r"[A-Za-z0-9_\-]+", alias):
        raise UsageError(f"{alias!r} is not an OpenML suite: use its number or alias, such as 99 or OpenML-CC18")
    what = f"OpenML suite {alias}"
    answer = _request(f"study/{alias}", what)
    with answer_of("OpenML", what):
        numbers = dict.fromkeys(int(number) for number in _as_list((answer["study"].get("data") or {}).get("data_id")))
    if not numbers:
        raise DataError(f"{what} lists no datasets: check its number or alias at https://www.openml.org")
    return list(numbers)


def _request(path: str, what: str) -> Any:
    """Return the answer of the REST API; its refusals carry a code and a message in the body."""
    try:
        return fetch_json(f"{_server()}/api/v1/json/{path}", what=what)
    except RefusedError as error:
        try:
            complaint = json.loads(error.body)["error"]
            code, message = str(complaint["code"]), plain_text(complaint["message"], 200)
        except (ValueError, TypeError, KeyError):
            raise error from None
        if code == _OVERLOADED:
            reason = f"cannot fetch {what}: OpenML's database is overloaded ({message})"
            remedy = "try again later, or use a mirror (--data-dir)"
            raise DataUnavailableError(reason, remedy, attempt=reason) from error
        reason = f"there is no public {what} (OpenML: {message!r}, code {code})"
        raise RefusedError(f"{reason}: check its number or name") from error


def _number_of(reference: str) -> int:
    """Return the number of a dataset, given its number or name."""
    if _NUMBER.fullmatch(reference):
        return int(reference)
    match = _NAME.fullmatch(reference)
    if match is None or reference.isdigit():
        raise UsageError(f"{reference!r} is not an OpenML dataset: use a number or a name, such as '61' or 'iris@1'")
    name, version = match[1], match[2]
    what = f"OpenML dataset {reference!r}"
    # A version that is named may have been deactivated since; without one, only active versions count.
    filters = f"data_version/{version}/status/all" if version else "status/active"
    answer = _request(f"data/list/data_name/{quote(name, safe='')}/{filters}", what)
    with answer_of("OpenML", what):
        return min(int(entry["did"]) for entry in _as_list(answer["data"]["dataset"]))


def _describe(number: int) -> dict[str, Any]:
    """Return a description with the table to use: ARFF, which has a checksum, or Parquet if the ARFF is sparse."""
    what = f"OpenML dataset {number}"
    answer = _request(f"data/{number}", what)
    with answer_of("OpenML", what):
        # The server turns an empty XML element into an empty list.
        described = {key: value or None for key, value in answer["data_set_description"].items()}
        fields: dict[str, Any] = {**dict.fromkeys(_FIELDS), **described}
        if int(fields["id"]) != number:
            raise ValueError(f"id {fields['id']}")
        stated, fields["version"] = str(fields["format"]), int(fields["version"])
        fields["format"] = stated.lower()
        if fields["format"] != "arff":
            fields.update(url=fields.get("parquet_url"), md5_checksum=None)
        if not fields["url"]:
            reason = f"{what} is in the format {plain_text(stated, 40)!r}"
            raise DataError(f"{reason}, but only dense ARFF and Parquet are read: convert it and use 'file:PATH'")
        return fields


def _flags_of(number: int) -> Flags:
    """Return what OpenML records about each column; nothing for a dataset that it has not analysed."""
    what = f"the list of columns of OpenML dataset {number}"
    try:
        answer = _request(f"data/features/{number}", what)
    except RefusedError:
        return {}
    with answer_of("OpenML", what):
        columns = _as_list(answer["data_features"]["feature"])
        return {str(column["name"]).strip(): {**column, "data_type": str(column["data_type"])} for column in columns}


def _server() -> str:
    """Return the address of the server; the package's configuration has that of the XML interface."""
    address = os.environ.get(OPENML_VARIABLE)
    if not address:
        try:
            from openml import config
        except (ImportError, OSError) as error:  # importing it creates folders for its settings and its cache
            reason = f"the openml package cannot be imported ({plain_text(error, 200)})"
            raise DataError(f"{reason}: install it, and make sure that its home folder is writable") from error
        address = config.server
    return re.sub(r"/api/v1(/.*)?$", "", address.rstrip("/"))


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
