import importlib
import subprocess
import sys

from every_estimator import RELIEF_FAMILY

import mfbench_margin
from mfbench_margin import plugin


def test_registering_the_plugin_is_light():
    code = "import sys, mfbench_margin.plugin; sys.exit(bool({'numpy', 'sklearn', 'numba'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_estimator_is_registered():
    selectors = {spec.factory.split(":")[1] for spec in plugin.mfbench_selectors()}
    classifiers = {spec.factory.split(":")[1] for spec in plugin.mfbench_classifiers()}
    assert selectors == set(mfbench_margin.__all__)
    assert classifiers == selectors - {*RELIEF_FAMILY, "RReliefF"}
    for spec in plugin.mfbench_selectors():
        module, name = spec.factory.split(":")
        assert getattr(importlib.import_module(module), name) is getattr(mfbench_margin, name)
