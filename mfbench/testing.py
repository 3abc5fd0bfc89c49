"""For the tests of plugins: what the package mfbench_check offers, under its promised name."""

from mfbench_check.testing import SingleCheck, parametrize_plugin, sample

__all__ = ["SingleCheck", "parametrize_plugin", "sample"]
