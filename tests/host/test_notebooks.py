"""Definitions of a notebook or the main script: saved as a module that any process can import."""

import importlib
import linecache
import sys
from types import ModuleType

import numpy as np
import pytest

from mfbench.errors import UsageError
from mfbench.host import declared
from mfbench.host.declared import declared_plugin, expression_of, reference_of
from mfbench.host.expressions import Declaration

IMPORTS = """
import os.path as paths
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import f_classif as anova
X = np.ones((2, 2))
LIMIT = [0.5, None]
"""
MINE = """
def helper(X: NDArray, depth: NDArray = 0):
    return Mine if depth else anova(X, [0, 1, 0, 1])[0]

class Base(BaseEstimator):
    def get(self):
        return LIMIT

class Mine(Base):
    class Inner(BaseEstimator):
        pass

    @property
    def sep(self):
        return paths.sep

    def __init__(self, alpha=1.0):  # X of the notebook is another one
        self.alpha = alpha

    def fit(self, X, y):
        self.scores_ = helper(X)
        return self
"""


@pytest.fixture
def cells(tmp_path, monkeypatch):
    """Return a function that runs a cell as a notebook does."""
    main = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)
    monkeypatch.setattr(declared, "_folder", lambda: tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])

    def run(text):
        name = f"<cell {len(linecache.cache)}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        exec(compile(text, name, "exec"), vars(main))
        return main

    yield run
    for name in [name for name in sys.modules if name.startswith(declared.PREFIX)]:
        del sys.modules[name]


def test_a_class_is_saved_with_all_that_it_uses_and_nothing_else(cells):
    cells(IMPORTS)
    main = cells(MINE)
    text = str(expression_of(main.Mine(alpha=2.0)))
    place, _, rest = text.partition("(")
    assert rest == "alpha=2.0)"
    module = importlib.import_module(place.partition(":")[0])
    X = np.arange(12.0).reshape(4, 3) ** 2
    np.testing.assert_array_equal(module.Mine().fit(X, None).scores_, main.Mine().fit(X, None).scores_)
    assert (module.Mine().get(), module.Mine().sep) == (main.LIMIT, main.paths.sep)
    assert module.helper(X, 1) is module.Mine
    assert not hasattr(module, "X") and not hasattr(module, "NDArray")


def test_equal_definitions_have_the_same_place_in_every_session(cells):
    cells(IMPORTS)
    first = reference_of(cells(MINE).Mine)
    assert reference_of(cells(MINE.replace("  # X of the notebook is another one", "")).Mine) == first
    assert reference_of(cells(MINE.replace("alpha=1.0", "alpha=3.0")).Mine) != first
    assert reference_of(cells(MINE).Mine.Inner) == f"{first}.Inner"


def test_another_process_finds_what_was_saved(cells, monkeypatch):
    cells(IMPORTS)
    place = reference_of(cells(MINE).helper)
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if folder != str(declared._folder())])
    assert declared_plugin(Declaration("selector", place)).module == place.partition(":")[0]


def test_what_cannot_be_taken_along_is_named(cells):
    main = cells(IMPORTS + "def score(X, y):\n    return table[:2]\ntable = np.ones(9)\n")
    with pytest.raises(
        UsageError, match="cannot add 'score': it uses 'table' of the notebook or main script, which is"
    ):
        reference_of(main.score)
    exec("def typed(X, y): return X", vars(main))
    with pytest.raises(UsageError, match=r"'typed': it is defined in a notebook cell .* its source is not known"):
        reference_of(main.typed)
