"""The meaning of code: what leaves it as it is, what changes it, and what a module depends on."""

import hashlib
import itertools
import sys

import pytest

from mfbench.host import meaning as imports
from mfbench.host.meaning import Binding, Code, closure, code_of, definition, written

PLAIN = """
import numpy as np
from collections import Counter

class Point:
    x: int
    y: int = 0

    def far(self, other, scale=2.0):
        if other:
            return scale * np.abs(self.x - other.x) > 1e-9
        return Counter(f"{self.x!r:>{scale}} of {other} {self.y=}")
"""


def meaning(source, package="pkg"):
    described = lambda b: f"{b.local}={b.module}:{b.attribute}"  # noqa: E731
    return written(Code(source.encode(), package).pieces, described)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("class Point:", "class Point:\n    # A point.\n"),
        ("class Point:", "class Point:\n    '''A point.'''\n"),
        ("x: int", "x: 'np.float64'\n    'The abscissa.'\n"),
        ("other, scale=2.0):", "other: int, scale: float = 2.0) -> np.ndarray:"),
        ("other, scale=2.0):", "other,\n            scale=2.0,\n    ):"),
        ("return scale", "zeros: np.ndarray\n            return scale"),
        ("import numpy as np\nfrom collections import Counter", "from collections import Counter\nimport numpy as np"),
        ("import Counter", "import Counter, OrderedDict  # for a hint"),
        ("class Point:", "__all__ = ['Point']\n\nclass Point:"),
        ("import numpy", "from __future__ import annotations\nimport numpy"),
        ("class Point:", "if TYPE_CHECKING:\n    from fractions import Fraction\n\nclass Point:"),
        ("(self.x - other.x)", "((self.x) - (other.x))"),
        ('f"{self.x!r:>{scale}} of {other} {self.y=}"', 'f"{self.x!r:>{scale}}" " of " f"{other} self.y={self.y!r}"'),
    ],
)
def test_what_does_not_matter_when_code_runs_leaves_the_meaning_as_it_is(old, new):
    assert old in PLAIN
    assert meaning(PLAIN.replace(old, new)) == meaning(PLAIN)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("2.0", "2"),
        ("1e-9", "-1e-9"),
        ("if other:", "if not other:"),
        ("y: int = 0", "y = 0"),  # no field of a dataclass any more
        ("y: int = 0", "y: ClassVar[int] = 0"),
        ("y: int = 0", "y: 'InitVar[int]' = 0"),
        ("y: int = 0", "y: int"),
        ("y: int = 0", "y: int = None"),
        ("x: int\n", "z: int\n"),
        ("    def far", "    @property\n    def far"),
        ("numpy as np", "cupy as np"),
        ("collections import", "other import"),
        ("import Counter", "import OrderedDict as Counter"),
        (" of ", " off "),
        (":>{scale}", ":<{scale}"),
        ("!r", "!s"),
        ("class Point:", "class Point(int):"),
    ],
)
def test_what_matters_changes_the_meaning(old, new):
    assert old in PLAIN
    assert meaning(PLAIN.replace(old, new, 1)) != meaning(PLAIN)


def test_texts_and_numbers_are_not_confused():
    values = ["0", "0.0", "False", "None", "'0'", "b'0'", "...", "0j", "-0", "(0,)", "[0]"]
    assert len({meaning(f"x = {value}") for value in values}) == len(values)


def test_an_empty_body_is_the_same_however_it_is_written():
    assert meaning("class A: pass") == meaning("class A:\n    '''Nothing.'''")


def test_the_meaning_is_the_same_in_every_release_of_python():
    assert hashlib.sha256(meaning(PLAIN)).hexdigest()[:16] == "39310ae0e558e244"


def test_a_file_that_is_no_source_counts_by_its_bytes():
    one, two = (Code(content, suffix=".so") for content in (b"\x7fELF 1", b"\x7fELF 2"))
    assert one.pieces != two.pieces
    assert Code(b"1 +").pieces != Code(b"2 +").pieces
    assert Code().pieces == Code(b"# nothing\n").pieces


def follows(root):
    return root.startswith("gadget")


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Return a function that writes the files of the package gadget, and then nothing that was read before counts."""
    monkeypatch.syspath_prepend(tmp_path)
    stamps = itertools.count()

    def write(packages=(), **files):
        """Packages have their __init__ by the name of a folder; modules of the folder inner begin with inner_."""
        places = {f"{name}/__init__": content for name, content in dict(packages).items()}
        places |= {name.replace("inner_", "inner/", 1): content for name, content in files.items()}
        for name, content in places.items():
            path = tmp_path / "gadget" / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{content}\n#{next(stamps)}\n")
            for folder in [path.parent, *path.parent.parents]:
                if folder == tmp_path:
                    break
                if not (folder / "__init__.py").exists():
                    (folder / "__init__.py").write_text("")
        imports.locate.cache_clear()
        sys.path_importer_cache.clear()

    return write


def closed(module="gadget.method"):
    return [content for _, content in closure(module, follows)]


CHAIN = {
    "method": "from gadget.tools import depth\nclass Method:\n    value = depth()",
    "tools": "from gadget.inner import constants as c\nfrom gadget.unused import other\ndef depth():\n    return c.ONE",
    "inner_constants": "ONE = 1",
    "unused": "other = 1",
}


def test_a_constant_two_modules_away_counts(write):
    write(**CHAIN)
    before = closed()
    write(inner_constants="ONE = 1  # the same")
    assert closed() == before
    write(inner_constants="ONE = 2")
    assert closed() != before


def test_a_constant_behind_a_reexport_counts_and_nothing_else_of_its_package(write):
    package = (
        "from gadget.inner._core import SIZE as LENGTH\nfrom gadget.inner._other import Thing\n__all__ = ['LENGTH']"
    )
    write(
        method="from gadget.inner import LENGTH\nlength = LENGTH",
        packages={"inner": package},
        inner__core="SIZE = 1",
        inner__other="class Thing:\n    size = 1",
    )
    before = closed()
    assert definition("gadget.inner", "LENGTH", follows) == ("gadget.inner._core", "SIZE")
    write(inner__other="class Thing:\n    size = 2")
    assert closed() == before
    write(inner__core="SIZE = 2")
    assert closed() != before


def test_a_move_keeps_the_meaning_and_a_swap_does_not(write):
    write(**CHAIN)
    before = closed()
    write(
        place="from gadget.helpers import depth\nclass Method:\n    value = depth()",
        helpers="from gadget import numbers as c\ndef depth():\n    return c.ONE",
        numbers="ONE = 1",
    )
    assert closed("gadget.place") == before
    write(both="ONE = 1", tools="from gadget import unused as c\ndef depth():\n    return c.ONE", unused="ONE = 2")
    assert closed() != before


def test_modules_that_import_each_other_and_modules_imported_by_a_text(write):
    write(
        method="import importlib\nfrom gadget.other import b\na = b, importlib.import_module('gadget.late')",
        other="from gadget.method import a\nb = a",
        late="a = 1",
    )
    before = closed()
    assert len(before) == 3
    write(late="a = 2")
    assert closed() != before


def test_what_a_package_does_when_it_is_imported_counts(write):
    write({"inner": "import numpy\nnumpy.seterr(all='raise')"}, inner_method="a = 1", other="")
    before = closed("gadget.inner.method")
    write({"inner": "import numpy\nnumpy.seterr(all='warn')"})
    assert closed("gadget.inner.method") != before
    write({"inner": "def __getattr__(name):\n    raise AttributeError(name)"})
    assert len(closed("gadget.inner.method")) == 1


@pytest.mark.parametrize(
    "package",
    [
        "try:\n    from gadget.inner._core import SIZE\nexcept ImportError:\n    raise",
        "from gadget.inner._core import SIZE\nif SIZE > 5:\n    SIZE = 5",
        "from gadget.inner._core import *",
    ],
    ids=["conditional", "changed", "star"],
)
def test_a_reexport_that_is_not_plain_counts_with_its_package(write, package):
    write({"inner": package}, method="from gadget.inner import SIZE\nsize = SIZE", inner__core="SIZE = 1")
    before = closed()
    write(inner__core="SIZE = 2")
    changed = closed()
    assert changed != before
    write({"inner": f"{package}\nOTHER = 1"})
    assert closed() != changed


def test_of_other_packages_names_count(write):
    write(method="from numpy.linalg import norm\nimport json\nx = norm, json")
    assert b"norm=numpy.linalg:norm" in closed()[0]
    assert Binding("json", "", "json") in code_of("gadget.method").pieces
