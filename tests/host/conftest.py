"""Plugins that are installed, as far as mfbench can tell."""

import sys
from importlib.metadata import EntryPoint

import pytest

from mfbench.host import discovery


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """Return a function that writes modules and makes them the installed entry points, in the order given."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("MFBENCH_LOAD_PLUGINS", raising=False)

    class Distribution:
        def __init__(self, name):
            self.name, self.version = name, "1.2"

    def install(**modules):
        entries = []
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(text)
            entry = EntryPoint(name=name, value=name, group="mfbench")
            entries.append(entry._for(Distribution(f"dist-{name}")))
            monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.setattr(discovery, "entry_points", lambda group: entries if group == "mfbench" else [])

    yield install
    for path in tmp_path.glob("*.py"):
        sys.modules.pop(path.stem, None)


@pytest.fixture
def plugin_text():
    """Return a function from names of selectors to the text of a plugin that registers them."""
    return _plugin_text


def _plugin_text(*names):
    specs = ", ".join(f"SelectorSpec(name={name!r}, summary='', factory='collections:Counter')" for name in names)
    return f"from mfbench import SelectorSpec, hookimpl\n@hookimpl\ndef mfbench_selectors():\n    return [{specs}]\n"
