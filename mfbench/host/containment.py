"""What a plugin's module and hooks may not leave behind in the process that loads them."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def contained(*, isolated: bool) -> Iterator[None]:
    """Undo changes of the warning filters and, if asked, of ``sys.path`` and ``os.environ`` at the end of a block."""
    path, environ = list(sys.path), dict(os.environ)
    try:
        with warnings.catch_warnings():
            yield
    finally:
        if isolated:
            sys.path[:] = path
            if os.environ != environ:
                os.environ.clear()
                os.environ.update(environ)
