"""Clients of dataset repositories: download a table, read it and describe it.

Numbers and names are those of references, which are checked already (`mfbench.data.reference`).
"""

import json
import os
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import numpy as np

from mfbench.base.text import plain_text
from mfbench.data.columns import drop_columns
from mfbench.data.download import DownloadProgress, RefusedError, answer_of, fetch_file, fetch_json, shown
from mfbench.data.files import read_arff, read_file
from mfbench.errors import DataError, DataUnavailableError, MfbenchError, UnknownNameError, UsageError, explained
from mfbench.model.specs import Dataset
from mfbench.processes.temporary import temporary_folder

Card = dict[str, Any]


def load_table(
    what: str,
    url: str,
    *,
    extension: str,
    columns: Collection[str],
    target: str,
    categorical: Sequence[str],
    drop: Collection[str],
    progress: DownloadProgress | None,
    md5: str = "",
    **origin: Any,
) -> tuple[Dataset, Card]:
    """Download a table, read it, and drop columns."""
    unknown = next((name for name in categorical if columns and name not in columns), None)
    if unknown is not None:
        raise UnknownNameError("categorical column", unknown, columns, f"in {what}")
    # Treat dropped columns as categorical: `read_file` would reject some of them (identifiers) otherwise.
    listed = [*categorical, *(name for name in drop if name in columns)]
    table = f"the table of {what}"
    with temporary_folder("download") as folder:
        path = folder / f"data{extension}"
        checksum = fetch_file(url, path, what=table, md5=md5, progress=progress)
        try:
            data = read_file(path, target=target, categorical=listed)
        except MfbenchError as error:
            reason = str(error).replace(str(path), f"{table} at {shown(url)}")
            raise DataError(f"{what} cannot be used: {reason}") from error
    if all(name in drop for name in data.feature_names):
        raise DataError(f"{what} has no feature except its target and the columns that are left out")
    data = drop_columns(data, list(drop))
    card = {"url": shown(url), "checksum": checksum, **({"md5": md5} if md5 else {}), "target": target}
    return replace(data, **origin), {**card, "retrieved": datetime.now(UTC).date().isoformat()}


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


OPENML_VARIABLE = "MFBENCH_OPENML_URL"

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
    progress: DownloadProgress | None = None,
) -> tuple[Dataset, Card]:
    """Download a dataset from OpenML."""
    # Columns that OpenML marks as row identifiers, ignored or further targets are dropped; its nominal columns are
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


def load_openml_task(reference: str, *, progress: DownloadProgress | None = None) -> tuple[Dataset, Card]:
    """Download the dataset of an OpenML task, with the splits of its first repeat."""
    what = f"OpenML task {reference}"
    answer = _request(f"task/{reference}", what)
    with answer_of("OpenML", what):
        inputs = {str(entry["name"]): entry for entry in _as_list(answer["task"]["input"])}
        source, procedure = (
            dict(inputs.get(name, {}).get(part) or {})
            for name, part in (("source_data", "data_set"), ("estimation_procedure", "estimation_procedure"))
        )
        number, target = int(source["data_set_id"]), str(source.get("target_feature") or "")
        url = str(procedure.get("data_splits_url") or "")
    if not (target and url):
        raise DataError(f"{what} has no target or no splits: use one of the type 'Supervised Classification'")
    dataset, card = load_openml(number, target=target)
    splits = f"the splits of {what} at {shown(url)}"
    with temporary_folder("download") as folder:
        path = folder / "splits.arff"
        fetch_file(url, path, what=splits, progress=progress)
        with answer_of("OpenML", splits):
            with explained(DataError, lambda reason: reason.replace(str(path), splits), DataError):
                columns = {column.name: column.values for column in read_arff(path)}
            row, repeat, fold = (np.asarray(columns[name], dtype=np.int64) for name in ("rowid", "repeat", "fold"))
            is_test = np.array(columns["type"]) == "TEST"
    split = np.full(dataset.n_samples, -1)
    for number in np.unique(fold):
        own = (repeat == 0) & (fold == number)
        if (
            not np.array_equal(np.sort(row[own]), np.arange(dataset.n_samples))
            or (split[row[own & is_test]] >= 0).any()
        ):
            raise DataError(f"{what} draws rows, or tests one twice: only folds and a single test part can be used")
        split[row[own & is_test]] = number
    n_repeats = int(repeat.max()) + 1
    first = f", the first of {n_repeats} repeats" if n_repeats > 1 else ""
    origin = f"{dataset.source}; splits of task {reference}{first}"
    return replace(dataset, name=f"openml-task:{reference}", split=split, source=origin), card


def openml_suite(reference: str | int) -> list[int]:
    """Return the dataset numbers of an OpenML suite or study."""
    what = f"OpenML suite {reference}"
    answer = _request(f"study/{reference}", what)
    with answer_of("OpenML", what):
        numbers = dict.fromkeys(int(number) for number in _as_list((answer["study"].get("data") or {}).get("data_id")))
    if not numbers:
        raise DataError(f"{what} lists no datasets: check its number or alias at https://www.openml.org")
    return list(numbers)


def _request(path: str, what: str) -> Any:
    """Return the response of the REST API, whose errors carry a code and a message in the body."""
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
    """Return a dataset's number, given its number or name."""
    if reference.isdigit():
        return int(reference)
    name, _, version = reference.partition("@")
    what = f"OpenML dataset {reference!r}"
    # An explicit version may since have been deactivated; without one, only active versions count.
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
    """Return OpenML's metadata about each column; empty if it has not analysed the dataset."""
    what = f"the list of columns of OpenML dataset {number}"
    try:
        answer = _request(f"data/features/{number}", what)
    except RefusedError:
        return {}
    with answer_of("OpenML", what):
        columns = _as_list(answer["data_features"]["feature"])
        return {str(column["name"]).strip(): {**column, "data_type": str(column["data_type"])} for column in columns}


def _server() -> str:
    """Return the server's address; the package's configuration holds the XML endpoint."""
    address = os.environ.get(OPENML_VARIABLE)
    if not address:
        # Importing it creates its configuration and cache folders.
        with explained(DataError, lambda why: f"cannot import openml: {why}; make its home folder writable", OSError):
            from openml import config
        address = config.server
    return re.sub(r"/api/v1(/.*)?$", "", address.rstrip("/"))


def _flagged(flags: Flags, flag: str) -> list[str]:
    return [name for name, column in flags.items() if str(column.get(flag)).lower() == "true"]


def _listed(names: object, flags: Flags) -> list[str]:
    """Return the columns that a field names: a list, one name, or a comma-separated string."""
    columns = []
    for name in map(str, _as_list(names)):
        columns += [name] if name in flags else [part.strip().strip("\"'") for part in name.split(",")]
    return [name for name in columns if name]


def _as_list(value: object) -> list[Any]:
    """Return a list: the server unwraps lists of one item."""
    return value if isinstance(value, list) else [] if value is None else [value]


UCI_VARIABLE = "MFBENCH_UCI_URL"
_UCI = "https://archive.ics.uci.edu"


def load_uci(
    uci_id: int | str,
    *,
    target: str | None = None,
    categorical: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    progress: DownloadProgress | None = None,
) -> tuple[Dataset, Card]:
    """Download a dataset from the UCI repository."""
    # Columns with a role other than "Feature" (identifiers, further targets, "Other") are dropped. Columns of the types
    # "Categorical" and "Binary", and all text columns, are categorical.
    what = f"UCI dataset {uci_id}"
    server = (os.environ.get(UCI_VARIABLE) or _UCI).rstrip("/")
    description = _describe_uci(f"{server}/api/dataset?id={uci_id}", what)
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


def _describe_uci(url: str, what: str) -> dict[str, Any]:
    """Return UCI's description of a dataset, if the dataset has a table."""
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
    """Return how to cite a dataset, with its introductory paper if UCI names one."""
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
