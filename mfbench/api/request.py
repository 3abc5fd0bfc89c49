"""What is asked of a suite: one frozen object, whether the words come from Python or from the command line."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from mfbench.api.runs import DEFAULT_OUT
from mfbench.errors import UsageError, whole_number
from mfbench.host.registry import LOCAL
from mfbench.run.forecast.budget import seconds_of
from mfbench.suite.additions import items_of
from mfbench.suite.shards import parse_shard

Accepted = TypeVar("Accepted")
Kept = TypeVar("Kept")

FEATURES: Mapping[str, tuple[str, str]] = {
    "reuse": ("--reuse", "mfbench_claims"),
    "scheduler": ("--scheduler", "mfbench_cluster"),
    "wait_for_workers": ("--wait-for-workers", "mfbench_cluster"),
    "shard": ("--shard", "mfbench_cluster"),
}
"""The option and the package of each field that an optional package serves."""


class Normalised(Generic[Accepted, Kept]):
    """A field of a dataclass that keeps what it is given in one form; a kept value is valid as a given one."""

    def __init__(self, normalise: Callable[[Accepted], Kept], default: Accepted) -> None:
        self._normalise, self._default = normalise, default

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> Kept:
        # A dataclass asks its class for the default.
        return self._default if instance is None else vars(instance)[self._name]  # type: ignore[return-value]

    def __set__(self, instance: object, value: Accepted) -> None:
        vars(instance)[self._name] = self._normalise(value)


def _texts(texts: Iterable[str]) -> tuple[str, ...]:
    return (texts,) if isinstance(texts, str) else tuple(texts)


def _paths(paths: Path | str | Iterable[Path | str]) -> tuple[Path, ...]:
    return tuple(Path(path) for path in ((paths,) if isinstance(paths, str | Path) else paths))


def _path(path: Path | str | None) -> Path | None:
    return None if path is None else Path(path)


def _seconds(duration: str | float | None) -> float | None:
    return None if duration is None else seconds_of(duration)


def _shard(shard: str | Path | tuple[int, int] | None) -> tuple[int, int] | Path | None:
    return parse_shard(shard) if isinstance(shard, str) else shard


def _whole(name: str) -> Callable[[int | None], int | None]:
    # Whether an int is in range depends on the suite, which is not loaded yet.
    return lambda value: value if value is None or isinstance(value, int) else whole_number(value, name, 0)


@dataclass(frozen=True)
class Request:
    """A run that is asked for, as `run_suite` describes it."""

    # Lists are tuples, durations are seconds, files and folders are paths, and an absent value is None or empty.

    suite: str
    profile: str | None = None
    part: str | None = None
    only: Normalised[Iterable[str], tuple[str, ...]] = Normalised(_texts, ())
    add: Normalised[Any, tuple[Any, ...]] = Normalised(items_of, ())
    add_data: Normalised[Iterable[str], tuple[str, ...]] = Normalised(_texts, ())
    target: str | None = None
    reference: str | None = None
    seed: Normalised[int | None, int | None] = Normalised(_whole("a seed"), None)
    max_rows: Normalised[int | None, int | None] = Normalised(_whole("the number of rows"), None)
    out: Normalised[Path | str, Path] = Normalised(Path, DEFAULT_OUT)
    data_dir: Normalised[Path | str | None, Path | None] = Normalised(_path, None)
    offline: bool = False
    strict: bool = False
    jobs: Normalised[int, int] = Normalised(lambda number: whole_number(number, "the number of workers", 0), 0)
    fresh: bool = False
    retry_failed: bool = False
    budget: Normalised[str | float | None, float | None] = Normalised(_seconds, None)
    executor: str = LOCAL
    scheduler: str | None = None
    wait_for_workers: Normalised[str | float | None, float | None] = Normalised(_seconds, None)
    shard: Normalised[str | Path | tuple[int, int] | None, tuple[int, int] | Path | None] = Normalised(_shard, None)
    reuse: Normalised[Path | str | Iterable[Path | str], tuple[Path, ...]] = Normalised(_paths, ())

    def __post_init__(self) -> None:
        if self.scheduler == "":  # as from a variable of the shell that is not set
            raise UsageError("--scheduler is empty: write an address, or leave the option out")
        if self.wait_for_workers is not None and self.executor == LOCAL:
            raise UsageError("--wait-for-workers needs --executor: the processes of this machine are always there")


def check_features(request: Request, installed: Collection[str]) -> None:
    """Raise an error if a request uses what only a package provides that is not installed."""
    for field, (option, package) in FEATURES.items():
        if getattr(request, field) not in (None, ()) and package not in installed:
            raise UsageError(f"{option} needs the package {package}, which is not installed here")
