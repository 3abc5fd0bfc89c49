"""For plugin tests: the helpers of mfbench_check under their stable public name."""

from mfbench_check.testing import SingleCheck, parametrize_plugin, sample

__all__ = ["SingleCheck", "parametrize_plugin", "sample"]
