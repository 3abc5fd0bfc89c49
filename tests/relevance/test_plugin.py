"""Everything the plugin registers can be created and fitted."""

import importlib
import subprocess
import sys
import warnings

from in_turn import in_turn
from sklearn.model_selection import ParameterGrid

from mfbench_relevance import plugin


@in_turn("spec", plugin.mfbench_selectors())
def test_selectors(make_regression, spec):
    X, y = make_regression(0, n=80, p=6)
    module, _, name = spec.factory.partition(":")
    factory = getattr(importlib.import_module(module), name)
    for point in ParameterGrid(dict(spec.grid)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            assert factory(**{**spec.defaults, **point}).fit(X, y).feature_importances_.shape == (6,)


def test_listing_loads_no_numeric_library():
    code = "import sys, mfbench_relevance.plugin as p; p.mfbench_selectors(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "scipy", "sklearn", "pandas", "numba"} & set(loaded)
