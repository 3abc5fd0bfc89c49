"""Imports are found in source files, and nothing is executed."""

import sys

import pytest

from mfbench.host import meaning
from mfbench.host.meaning import locate, reachable


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Return a function that writes importable modules, each of which would end the process if it were imported."""
    monkeypatch.syspath_prepend(tmp_path)
    meaning.locate.cache_clear()

    def modules(**texts):
        for name, text in texts.items():
            file = tmp_path.joinpath(*name.split("__"))
            file = file / "__init__.py" if text.startswith("# package") else file.with_suffix(".py")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text + "\nraise SystemExit\n")

    yield modules
    assert not [name for name in sys.modules if name.startswith("made_")]
    meaning.locate.cache_clear()


@pytest.mark.parametrize(
    "statement",
    [
        "import made_b",
        "import made_b.inner as short",
        "from made_b import anything",
        "from made_b.inner import thing",
        "def late():\n    if True:\n        import made_b",
        "try:\n    import made_b\nexcept ImportError:\n    pass",
        "import importlib\nimportlib.import_module('made_b.inner')",
        "__import__('made_b')",
        "import importlib\nimportlib.import_module(name='made_b.inner')",
        "from importlib import import_module as im\nim('made_b.inner')",
        "from importlib import import_module\nimport_module('.inner', 'made_b')",
        "from importlib import import_module\nimport_module('.inner', package='made_b')",
        "from importlib import import_module\nNAME = 'made_b.inner'\nimport_module(NAME)",
        "load = __import__\nload('made_b.inner')",
        "import pkgutil\npkgutil.resolve_name('made_b.inner:thing')",
        "import runpy\nrunpy.run_module('made_b.inner')",
    ],
)
def test_every_form_of_import_is_followed(write, statement):
    write(made_a=statement, made_b="# package", made_b__inner="import made_c", made_c="")
    packages, _ = reachable(["made_a"], set())
    assert packages - {"made_c"} == {"made_a", "made_b"}
    assert ("made_c" in packages) == ("inner" in statement)


@pytest.mark.parametrize(
    "statement", ["from . import other", "from .other import x", "from .. import up", "from ..up import x"]
)
def test_relative_imports_are_followed(write, statement):
    write(made_a="# package", made_a__sub="# package", made_a__sub__start=statement)
    write(made_a__sub__other="import made_c", made_a__up="import made_c", made_c="")
    assert reachable(["made_a.sub.start"], set())[0] == {"made_a", "made_c"}


def test_parents_are_imported_first(write):
    write(made_a="# package\nimport made_c", made_a__start="", made_c="")
    assert reachable(["made_a.start"], set())[0] == {"made_a", "made_c"}


def test_the_boundary_is_reported_but_not_followed(write):
    write(made_a="import json, made_b.inner, numpy.linalg", made_b="# package\nimport made_c", made_c="")
    assert reachable(["made_a"], {"numpy", "made_b", "scipy"}) == ({"made_a"}, {"numpy", "made_b"})


def test_a_namespace_package_is_not_one_package(write):
    write(made_a="import made_space.one", made_space__one="# package", made_space__two="# package")
    assert reachable(["made_a"], set())[0] == {"made_a", "made_space.one"}


@pytest.mark.parametrize("statement", ["from made_space.deep.tools import K", "import made_space.deep.tools"])
def test_a_namespace_package_in_another_is_followed(write, statement):
    """Like google.cloud: its parent is not in sys.modules, because nothing was imported."""
    write(made_a=statement, made_space__deep__tools="import made_b", made_b="")
    assert reachable(["made_a"], set())[0] == {"made_a", "made_space.deep.tools", "made_b"}


def test_a_folder_without_an_initial_module_belongs_to_its_package(write):
    write(made_a="# package\nfrom .parts.one import K", made_a__parts__one="import made_b", made_b="")
    assert reachable(["made_a"], set())[0] == {"made_a", "made_b"}


@pytest.mark.parametrize(
    "text", ["def (", "x = '\0'", "(" * 5000, "from ... import x", "import made_nowhere", "f(1)(2)"]
)
def test_a_file_that_cannot_be_read_or_leads_nowhere_is_an_end(write, text):
    write(made_a=text)
    assert reachable(["made_a"], set())[0] == {"made_a"}


def test_modules_that_import_each_other_are_visited_once(write):
    write(made_a="import made_b", made_b="import made_a")
    assert reachable(["made_a"], set())[0] == {"made_a", "made_b"}


def test_a_module_of_a_module_is_nowhere(write):
    write(made_a="")
    assert locate("made_a.attribute") is None
    assert locate("made_nowhere.attribute") is None


def test_the_script_that_started_the_process_is_not_followed(write):
    write(made_a="import __main__\nfrom __main__ import anything")
    assert reachable(["made_a"], set())[0] == {"made_a"}
