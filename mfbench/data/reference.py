"""References: the text by which a user names a dataset, parsed once into a value.

``wine`` and ``led-7(n_samples=100)`` are registered datasets, ``file:PATH`` is the user's own table, ``openml:61`` and
``uci:53`` are datasets of repositories, ``openml-task:59`` is one with the splits of a task, ``mirror:NAME`` and
``import:NAME`` are in a mirror or the cache, and ``openml-suite:99`` is a list of datasets. Only this module interprets
the prefixes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from mfbench.errors import UsageError
from mfbench.host.expressions import Expression, parse

# A name becomes part of a file name: no separators, drive letters or hidden files.
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", re.ASCII)


@dataclass(frozen=True)
class RegisteredReference:
    """A dataset that a plugin registers, with parameters."""

    expression: Expression  # its name and parameters
    text: str  # the reference as written

    @property
    def identity(self) -> str:
        """Text that is equal for two references to the same dataset."""
        return self.expression.identity


@dataclass(frozen=True)
class FileReference:
    """The user's own table."""

    prefix: ClassVar[str] = "file:"
    path: Path
    text: str  # the reference as written
    target: str | None = None  # label column; None means the last one
    categorical: tuple[str, ...] | None = None  # numeric columns to treat as categorical
    as_written: tuple[str, ...] = ()  # columns, such as identifiers, to read as categories whatever they hold

    @property
    def identity(self) -> str:
        """Text that is equal for two references to the same dataset."""
        return str(self.path.resolve())


@dataclass(frozen=True)
class _NamedReference:
    """A name behind a prefix."""

    prefix: ClassVar[str]
    form: ClassVar[re.Pattern[str]] = NAME
    example: ClassVar[str]
    name: str

    @property
    def text(self) -> str:
        """The reference as written."""
        return f"{self.prefix}{self.name}"

    @property
    def identity(self) -> str:
        """Text that is equal for two references to the same dataset."""
        return self.text

    @property
    def key(self) -> str:
        """The cache key."""
        return self.text


@dataclass(frozen=True)
class MirrorReference(_NamedReference):
    """A dataset in a mirror, or an imported copy of it."""

    prefix: ClassVar[str] = "mirror:"
    example: ClassVar[str] = "mirror:sonar"


@dataclass(frozen=True)
class ImportReference(_NamedReference):
    """A file imported into the cache."""

    prefix: ClassVar[str] = "import:"
    example: ClassVar[str] = "import:patients"


@dataclass(frozen=True)
class OpenMLSuiteReference(_NamedReference):
    """A list of datasets on OpenML."""

    prefix: ClassVar[str] = "openml-suite:"
    form: ClassVar[re.Pattern[str]] = re.compile(r"[A-Za-z0-9_-]{1,128}", re.ASCII)
    example: ClassVar[str] = "openml-suite:99 or openml-suite:OpenML-CC18"


@dataclass(frozen=True)
class RepositoryReference(_NamedReference):
    """A dataset in a repository, and how to read its table."""

    repository: ClassVar[str]
    loader: ClassVar[str]  # the name of its function in `mfbench.data.repositories`
    target: str | None = None  # label column; None means the repository's default target
    categorical: tuple[str, ...] | None = None  # columns to treat as categorical
    drop: tuple[str, ...] = ()  # columns to drop

    @property
    def key(self) -> str:
        """The cache key; the same table read in two ways is stored twice."""
        options = self.options()
        return f"{self.text} {json.dumps(options, sort_keys=True)}" if options else self.text

    def options(self) -> dict[str, str | tuple[str, ...]]:
        """Return the options that override the repository's own description of the table."""
        options = {"target": self.target, "categorical": self.categorical, "drop": self.drop or None}
        return {name: value for name, value in options.items() if value is not None}


@dataclass(frozen=True)
class OpenMLReference(RepositoryReference):
    """An OpenML dataset, by number or name."""

    prefix: ClassVar[str] = "openml:"
    form: ClassVar[re.Pattern[str]] = re.compile(r"(?![0.]+(@|$))[A-Za-z0-9_.(),-]{1,128}(@[1-9][0-9]{0,5})?", re.ASCII)
    example: ClassVar[str] = "openml:61 or openml:iris@1"
    repository: ClassVar[str] = "OpenML"
    loader: ClassVar[str] = "load_openml"


@dataclass(frozen=True)
class OpenMLTaskReference(RepositoryReference):
    """The dataset of an OpenML task, with the task's target and splits."""

    prefix: ClassVar[str] = "openml-task:"
    form: ClassVar[re.Pattern[str]] = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
    example: ClassVar[str] = "openml-task:59"
    repository: ClassVar[str] = "OpenML"
    loader: ClassVar[str] = "load_openml_task"


@dataclass(frozen=True)
class UCIReference(RepositoryReference):
    """A UCI dataset, by number."""

    prefix: ClassVar[str] = "uci:"
    form: ClassVar[re.Pattern[str]] = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
    example: ClassVar[str] = "uci:53"
    repository: ClassVar[str] = "the UCI repository"
    loader: ClassVar[str] = "load_uci"


StoredReference = MirrorReference | ImportReference | OpenMLReference | OpenMLTaskReference | UCIReference
Reference = RegisteredReference | FileReference | StoredReference | OpenMLSuiteReference

_REPOSITORIES = (OpenMLReference, UCIReference)
_NAMED = (MirrorReference, ImportReference, OpenMLTaskReference, OpenMLSuiteReference)
PREFIXES = (FileReference.prefix, *(kind.prefix for kind in (*_REPOSITORIES, *_NAMED)))


def parse_reference(
    text: str,
    *,
    folder: Path | None = None,
    target: str | None = None,
    categorical: Sequence[str] | None = None,
) -> Reference:
    """Parse a reference, without checking that the dataset exists."""
    listed = (categorical,) if isinstance(categorical, str) else categorical
    columns = None if listed is None else tuple(listed)
    if text.startswith(FileReference.prefix):
        path = _resolve_path(text.removeprefix(FileReference.prefix), text, folder)
        return FileReference(path, text, target, columns)
    for repository in _REPOSITORIES:
        if text.startswith(repository.prefix):
            return repository(_checked_name(text, repository), target, columns)
    if target is not None or columns is not None:
        users = "'file:', 'openml:' and 'uci:' datasets"
        raise UsageError(f"'target' and 'categorical' are for {users}; {text!r} defines its own columns")
    for kind in _NAMED:
        if text.startswith(kind.prefix):
            return kind(_checked_name(text, kind))
    return RegisteredReference(parse(text), text)


def _checked_name(text: str, kind: type[_NamedReference]) -> str:
    """Return the name behind the prefix after validating it, since it may become part of a path or URL."""
    name = text.removeprefix(kind.prefix)
    if not kind.form.fullmatch(name) or (kind.form is NAME and ".." in name):
        raise UsageError(f"cannot read {text!r}: write it like {kind.example}")
    return name


def _resolve_path(name: str, text: str, folder: Path | None) -> Path:
    if not name:
        raise UsageError(f"cannot read {text!r}: write it like file:patients.csv")
    try:
        path = Path(name).expanduser()
    except RuntimeError as error:  # "~name" of an unknown user
        raise UsageError(f"cannot find {text!r}: {error}") from None
    return path if path.is_absolute() or folder is None else folder / path
