"""Datasets of OpenML by number or name, and the datasets of its suites.

The openml package says where the server is, following the user's own configuration of it, and its `OpenMLDataset` holds
a dataset's description. Its transport is not used: openml 0.15 sends requests without a time-out, reads bodies of any
length into memory, writes its cache in place, so that an interrupted download stays there as a damaged file which later
calls trust, and caches tables as pickles. So the documented REST API (https://docs.openml.org/REST-tutorial) is asked
through `mfbench.data.download`, and `mfbench.data.files` reads the table. No API key is sent: public data need none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mfbench.data.download import Policy, Progress, RefusedError, answer_of, fetch_json, plain_text
from mfbench.data.uci_source import Card, card_of, choose_target, fetch_table
from mfbench.errors import DataError, DataUnavailableError, UsageError
from mfbench.models import Dataset

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
    """Download a dataset of OpenML.

    Columns that OpenML marks as row numbers, as to be ignored or as further targets are left out; its nominal columns
    are categorical. The published MD5 is verified.

    Parameters
    ----------
    reference : str or int
        A number (``"61"``), a name with a version (``"iris@1"``), or a name, which means the oldest version that is
        active, as in the openml package.
    target : str or None, default=None
        The column of class labels; OpenML's default target if None.
    categorical : sequence of str or None, default=None
        Further columns that hold categories though they are numbers.
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
        See `mfbench.data.uci_source.card_of`.

    Raises
    ------
    UsageError
        If the reference is neither number nor name, a named column does not exist, or OpenML names no target or several
        and `target` is None.
    DataError
        If there is no such dataset, or the table is damaged, sparse or not for classification.
    DataUnavailableError
        If OpenML cannot be reached.
    """
    number = _resolve(str(reference), policy)
    what = f"OpenML dataset {number}"
    described = _describe(number, policy)
    flags = _flags(number, policy)
    targets = _listed(described.default_target_attribute, flags) or _flagged(flags, "is_target")
    label = choose_target(what, targets, flags, target)
    ignored = [
        *_listed(described.ignore_attribute, flags),
        *_listed(described.row_id_attribute, flags),
        *_flagged(flags, "is_ignore"),
        *_flagged(flags, "is_row_identifier"),
    ]
    url, md5 = str(described.url), plain_text(described.md5_checksum, 64)
    dataset, received = fetch_table(
        url,
        ".arff" if described.format == "arff" else ".parquet",
        what=what,
        target=label,
        categorical=[*(categorical or ()), *(name for name, flag in flags.items() if flag["data_type"] == "nominal")],
        drop=[name for name in (*drop, *ignored, *targets) if name != label],
        known=flags,
        md5=md5,
        policy=policy,
        progress=progress,
    )
    page = f"https://www.openml.org/d/{number}"
    title = f"{plain_text(described.name, 100)}, version {described.version}"
    dataset = replace(
        dataset,
        name=f"openml:{number}",
        source=f"OpenML dataset {number} ({title}), {page}",
        license=plain_text(described.licence) or f"see {page}",
        citation=plain_text(described.citation, 1000) or f"{title}. OpenML. {page}",
    )
    return dataset, card_of(dataset, received, url=url, target=label, md5=md5)


def openml_suite(reference: str | int, *, policy: Policy | None = None) -> list[int]:
    """Return the numbers of the datasets of an OpenML suite or study.

    Parameters
    ----------
    reference : str or int
        A number (``99``) or an alias (``"OpenML-CC18"``).
    policy : Policy or None, default=None
        Limits of size, time and attempts.

    Returns
    -------
    list of int
        In OpenML's order, each once.

    Raises
    ------
    UsageError
        If the reference is neither number nor alias.
    DataError
        If there is no such suite, or it has no datasets.
    DataUnavailableError
        If OpenML cannot be reached.
    """
    alias = str(reference)
    if not re.fullmatch(r"[A-Za-z0-9_\-]+", alias):
        raise UsageError(f"{alias!r} is no OpenML suite: use its number or alias, such as 99 or OpenML-CC18")
    what = f"OpenML suite {alias}"
    answer = _ask(f"study/{alias}", what, policy)
    with answer_of("OpenML", what):
        numbers = dict.fromkeys(int(number) for number in _as_list((answer["study"].get("data") or {}).get("data_id")))
    if not numbers:
        raise DataError(f"{what} lists no datasets: check its number or alias at https://www.openml.org")
    return list(numbers)


def _ask(path: str, what: str, policy: Policy | None) -> Any:
    """Return the answer of the REST API; its refusals carry a code and a message in the body."""
    import json

    url = f"{_server()}/api/v1/json/{path}"
    try:
        return fetch_json(url, what=what, policy=policy)
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
        reason = f"there is no {what} for everyone to use (OpenML says {message!r}, code {code})"
        raise RefusedError(f"{reason}: check its number or name", error.status, error.body) from error


def _server() -> str:
    """Return the address of the server, of which the package's configuration knows that of the XML interface."""
    address = os.environ.get(OPENML_VARIABLE)
    if not address:
        try:
            from openml import config
        except (ImportError, OSError) as error:  # importing it makes folders for its settings and its cache
            raise _no_package(error) from error
        address = config.server
    return re.sub(r"/api/v1(/.*)?$", "", address.rstrip("/"))


def _no_package(error: Exception) -> DataError:
    reason = f"the openml package cannot start ({plain_text(error, 200)})"
    return DataError(f"{reason}: install it ('pip install openml') and give it a home folder that it can write to")


def _resolve(reference: str, policy: Policy | None) -> int:
    """Return the number of a dataset that is given by number or name."""
    if _NUMBER.fullmatch(reference):
        return int(reference)
    match = _NAME.fullmatch(reference)
    if match is None or reference.isdigit():
        raise UsageError(f"{reference!r} is no OpenML dataset: use a number or a name, such as '61' or 'iris@1'")
    name, version = match[1], match[2]
    what = f"OpenML dataset {reference!r}"
    # A version that is asked for may have been deactivated since; without one only active ones count.
    wanted = f"data_version/{version}/status/all" if version else "status/active"
    answer = _ask(f"data/list/data_name/{quote(name, safe='')}/{wanted}", what, policy)
    with answer_of("OpenML", what):
        return min(int(found["did"]) for found in _as_list(answer["data"]["dataset"]))


def _describe(number: int, policy: Policy | None) -> OpenMLDataset:
    """Return a description and in it the table to use: ARFF, which has a checksum, or Parquet where that is sparse."""
    try:
        from openml.datasets import OpenMLDataset
    except (ImportError, OSError) as error:
        raise _no_package(error) from error

    what = f"OpenML dataset {number}"
    answer = _ask(f"data/{number}", what, policy)
    with answer_of("OpenML", what):
        # The server turns an empty XML element into an empty list.
        fields: dict[str, Any] = {key: value or None for key, value in answer["data_set_description"].items()}
        if int(fields["id"]) != number:
            raise ValueError(f"id {fields['id']}")
        if str(fields["format"]).lower() != "arff":
            fields.update(url=fields.get("parquet_url"), md5_checksum=None)
        if not fields.get("url"):
            reason = f"{what} is in the format {plain_text(fields['format'], 40)!r}"
            raise DataError(f"{reason}, and only dense ARFF and Parquet are read: convert it and use 'file:PATH'")
        names = ("url", "md5_checksum", "licence", "citation", "default_target_attribute", "row_id_attribute")
        chosen: dict[str, Any] = {key: fields.get(key) for key in (*names, "ignore_attribute")}
        kind: Any = str(fields["format"]).lower()
        return OpenMLDataset(fields["name"], None, kind, dataset_id=number, version=int(fields["version"]), **chosen)


def _flags(number: int, policy: Policy | None) -> Flags:
    """Return what OpenML knows about each column; nothing for a dataset that it has not analysed."""
    what = f"the list of columns of OpenML dataset {number}"
    try:
        answer = _ask(f"data/features/{number}", what, policy)
    except RefusedError:
        return {}
    with answer_of("OpenML", what):
        columns = _as_list(answer["data_features"]["feature"])
        return {str(column["name"]).strip(): {**column, "data_type": str(column["data_type"])} for column in columns}


def _flagged(flags: Flags, flag: str) -> list[str]:
    return [name for name, column in flags.items() if str(column.get(flag)).lower() == "true"]


def _listed(names: object, flags: Flags) -> list[str]:
    """Return the columns that a field names: a list, one name, or several separated by commas.

    Examples
    --------
    >>> _listed("id, day", {}), _listed("a,b", {"a,b": {}}), _listed(["id"], {}), _listed(None, {})
    (['id', 'day'], ['a,b'], ['id'], [])
    """
    found = []
    for name in map(str, _as_list(names)):
        found += [name] if name in flags else [part.strip().strip("\"'") for part in name.split(",")]
    return [name for name in found if name]


def _as_list(value: object) -> list[Any]:
    """Return a list: the server writes a list of one item as the item."""
    return value if isinstance(value, list) else [] if value is None else [value]
