"""Numba's ``njit`` with a cache that neither fails nor is out of date."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.registry import CPUDispatcher
from numba.core.types import unliteral

_MARK = b"njit"
# A parser would take longer than all else that is done at import; a sentence that reads like an import does no harm.
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<dots>\.*)(?P<base>[\w.]*)[ \t]+import[ \t]+(?P<names>\([^)]*\)|[^\n]*)"
    r"|import[ \t]+(?P<module>[\w.]+))",
    re.MULTILINE,
)


def stamp(file: str) -> str:
    """Return a hash of all sources that the compiled functions of a module's package depend on.

    These are the modules of the package that contain compiled functions, because functions are passed from one to
    another, and those that they import from the package, because their constants become a part of compiled code. Of a
    module without a package it is the module alone.

    Parameters
    ----------
    file : str
        Path of the module.
    """
    path = Path(file).resolve()
    root = _root(path)
    return _hash(path) if root is None else _package_stamp(root)


def _root(path: Path) -> Path | None:
    """Return the folder of the outermost package of a module."""
    root = None
    for folder in path.parents:
        if not (folder / "__init__.py").is_file():
            break
        root = folder
    return root


@cache
def _package_stamp(root: Path) -> str:
    modules = {path: path.read_bytes() for path in sorted(root.rglob("*.py"))}
    pending = [path for path, source in modules.items() if _MARK in source]
    reached: set[Path] = set()
    while pending:
        path = pending.pop()
        if path not in reached:
            reached.add(path)
            pending += [other for other in _imported(path, modules[path], root) if other in modules]
    parts = (f"{path.relative_to(root).as_posix()} {hashlib.sha256(modules[path]).hexdigest()}" for path in reached)
    return hashlib.sha256("\n".join(sorted(parts)).encode()).hexdigest()


def _imported(path: Path, source: bytes, root: Path) -> Iterator[Path]:
    """Yield the files that a module may import from its package; some of them do not exist."""
    for match in _IMPORT.finditer(source.decode("utf-8", "replace")):
        dots, base, names = match["dots"] or "", match["base"] or match["module"] or "", match["names"] or ""
        if dots:
            folder = path.parents[len(dots) - 1].relative_to(root.parent)
            base = ".".join([*folder.parts, *([base] if base else [])])
        if base.partition(".")[0] == root.name:
            for name in (base, *(f"{base}.{name}" for name in re.findall(r"\w+", names))):
                place = root.parent.joinpath(*name.split("."))
                yield from (place.with_suffix(".py"), place / "__init__.py")


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# Numba declares the types of some releases only.
_Base: Any = CPUDispatcher
_jit: Any = numba.jit


def njit(
    function: Callable[..., Any] | None = None, *, cache: bool = False, allocates: bool = True, **options: Any
) -> Any:
    """Compile a function as `numba.njit` does.

    A function that only other compiled functions call is compiled without the code that Python needs to call it; that
    code is added by the first call from Python.

    The cache differs in two ways. Where numba finds no folder that it can write to, compiled code is kept in the folder
    of temporary files; if even that is impossible, the function is compiled without a cache. And code is compiled again
    whenever any module changes that the compiled functions of its package depend on, not only its own.

    Parameters
    ----------
    function : callable or None, default=None
        None: return a decorator.
    cache : bool, default=False
        Keep the compiled code for other processes.
    allocates : bool, default=True
        Whether the function makes or returns arrays. If not, references to arrays are not counted: counting those of an
        argument with many arrays takes longer than a short function, both to compile and at each call.
    **options : Any
        Other options of `numba.njit`.

    Examples
    --------
    >>> @njit(fastmath=True)
    ... def twice(x):
    ...     return 2 * x
    >>> twice(2)
    4
    """
    if function is None:
        return partial(njit, cache=cache, allocates=allocates, **options)
    options["_nrt"] = allocates
    compiled = _jit(**options, nopython=True, no_cfunc_wrapper=True)(function)
    if compiled is function:  # NUMBA_DISABLE_JIT is set
        return compiled
    compiled.__class__ = _Dispatcher
    if cache:
        try:
            compiled._cache = _Cache(function)
        except RuntimeError as error:
            if "no locator available" not in str(error):
                raise
    return compiled


class _Dispatcher(_Base):
    """A compiled function whose code for Python is apart from its code for other compiled functions.

    Python needs code that unpacks each argument. For arguments with many arrays it takes longer to compile than the
    function itself, and most functions are called by compiled ones only.
    """

    @cached_property
    def inner(self) -> Any:
        inner = _jit(**self.targetoptions, no_cpython_wrapper=True)(self.py_func)
        if isinstance(self._cache, _Cache):
            inner._cache = _InnerCache(self.py_func)
        return inner

    def get_call_template(self, args: Any, kws: Any) -> Any:
        # A constant in a call would otherwise compile the function once more.
        return self.inner.get_call_template(tuple(map(unliteral, args)), kws)

    def get_overload(self, sig: Any) -> Any:
        return self.inner.get_overload(sig)

    @property
    def is_compiling(self) -> Any:
        return self.inner.is_compiling or self._compiling_counter


class _PackageStamp:
    """A place of a cache that depends on the sources of a package, not only on those of one module."""

    _py_file: str

    def get_source_stamp(self) -> str:
        return stamp(self._py_file)


def _with_stamp(place: type) -> type:
    # The sources of the others, IPython and zip files, are not in a folder.
    in_folders = any(part in place.__name__ for part in ("UserProvided", "InTree", "UserWide"))
    return type(place.__name__, (_PackageStamp, place), {}) if in_folders else place


def _is_usable(place: type) -> bool:
    # Without a home, numba would make a folder "~" in the working directory.
    return "UserWide" not in place.__name__ or os.path.expanduser("~") != "~"  # noqa: PTH111 - Path.home() raises


_CompileResult: Any = CompileResultCacheImpl
_Function: Any = FunctionCache
_Place: Any = _CompileResult._locator_classes[0]


class _Temporary(_PackageStamp, _Place):
    """A folder of this user in the folder of temporary files."""

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        self._py_file = py_file
        self._lineno = py_func.__code__.co_firstlineno
        self._cache_path = os.path.join(_own_folder(), self.get_suitable_cache_subpath(py_file))  # noqa: PTH118

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _Temporary | None:
        try:
            place = cls(py_func, py_file)
            place.ensure_cache_path()
        except OSError:
            return None
        return place


def _own_folder() -> str:
    """Return a folder that nobody else can write to: whoever writes there decides what code is executed."""
    user = os.getuid() if hasattr(os, "getuid") else "user"
    parent = Path(tempfile.gettempdir())
    if parent == Path.cwd():  # the last resort of `tempfile`; nothing in the working directory is executed
        raise PermissionError(f"{parent} is the working directory")
    folder = parent / f"mfbench-numba-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    about = folder.lstat()
    if hasattr(os, "getuid") and (about.st_uid != user or about.st_mode & 0o022 or folder.is_symlink()):
        raise PermissionError(f"{folder} is not this user's alone")
    return str(folder)


class _Implementation(_CompileResult):
    _locator_classes = (*map(_with_stamp, filter(_is_usable, _CompileResult._locator_classes)), _Temporary)


class _Cache(_Function):
    _impl_class = _Implementation


class _InnerImplementation(_Implementation):
    @property
    def filename_base(self) -> str:
        return f"inner-{super().filename_base}"


class _InnerCache(_Function):
    _impl_class = _InnerImplementation
