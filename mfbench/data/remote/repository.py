"""What all repositories share: a table is downloaded, read and described."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from mfbench.base.untrusted import plain_text
from mfbench.data.conform import drop_columns
from mfbench.data.files import read_file
from mfbench.data.remote.answers import shown
from mfbench.data.remote.download import Progress, fetch_file
from mfbench.errors import DataError, MfbenchError, UnknownNameError, UsageError
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
    progress: Progress | None,
    md5: str = "",
    **origin: Any,
) -> tuple[Dataset, Card]:
    """Download a table, read it, and leave columns out."""
    unknown = next((name for name in categorical if columns and name not in columns), None)
    if unknown is not None:
        raise UnknownNameError("categorical column", unknown, columns, f"in {what}")
    # `read_file` would refuse some columns that are left out, such as identifiers, if they were not categorical.
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
    kinds = zip(data.feature_names, data.categorical, strict=True)
    card = {
        "source": origin["source"],
        "licence": origin["license"],
        "citation": origin["citation"],
        "url": shown(url),
        "checksum": checksum,
        **({"md5": md5} if md5 else {}),
        "target": target,
        "categorical": [name for name, is_categorical in kinds if is_categorical],
        "n_samples": data.n_samples,
        "n_features": data.n_features,
        "n_classes": data.n_classes,
        "retrieved": datetime.now(UTC).date().isoformat(),
    }
    return replace(data, **origin), card


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
