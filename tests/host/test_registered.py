"""A plugin describes itself by the package that ships it, or else by its module."""

from mfbench.host.expressions import Plugin, Registered


def test_a_plugin_as_text():
    assert str(Plugin("margin", "mfbench_margin.plugin", "mfbench", "0.1.0")) == "mfbench 0.1.0 (mfbench_margin.plugin)"
    assert str(Plugin("own", "own_module")) == "own_module"


def test_entries_compare_by_content():
    plugin = Plugin("own", "own_module")
    assert Registered("spec", plugin) == Registered("spec", Plugin("own", "own_module"))
