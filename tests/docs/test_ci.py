"""Which tests run when, and what the scripts of CI run."""

import importlib.util
import os
import re
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


class Item:
    """A test as pytest collects it."""

    def __init__(self, name, *marks):
        self.nodeid, self.marks = f"tests/room/test_x.py::test_a[{name}]", list(marks)
        self.path = ROOT / "tests" / "room" / "test_x.py"
        self.config = types.SimpleNamespace(rootpath=ROOT)

    def iter_markers(self, name):
        return [mark for mark in self.marks if mark.name == name]

    def add_marker(self, mark):
        self.marks.append(mark.mark)


@pytest.fixture
def modify(pytestconfig):
    """The function of tests/conftest.py that marks what is left out of the usual run."""
    (conftest,) = [one for one in pytestconfig.pluginmanager.get_plugins() if hasattr(one, "GROUPS")]
    return conftest.pytest_collection_modifyitems


def test_the_usual_run_has_a_sample_that_is_always_the_same(modify):
    def left_out(names):
        items = [Item(name, pytest.mark.sampled(3, reason="many").mark) for name in names]
        modify(items)
        return {item.nodeid for item in items if item.iter_markers("nightly")}

    names = [str(number) for number in range(20)]
    assert len(left_out(names)) == 17
    assert left_out(names) == left_out(names)
    assert left_out(names[:2]) == set()


@pytest.mark.parametrize("name", ["slow", "nightly", "outside", "sampled"])
def test_a_test_that_is_left_out_has_a_reason(modify, name):
    with pytest.raises(pytest.UsageError, match=f"marked {name} without a reason"):
        modify([Item("a", getattr(pytest.mark, name)(1).mark)])


@pytest.mark.skipif(os.name == "nt", reason="scripts for a POSIX shell")
def test_the_documented_scripts_can_be_executed():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    scripts = set(re.findall(r"`(\.ci/\w+)`", text))
    assert {".ci/run", ".ci/nightly", ".ci/outside"} <= scripts
    assert all(os.access(ROOT / script, os.X_OK) for script in scripts)


def test_every_test_runs_in_the_usual_run_or_by_a_script():
    text = {name: (ROOT / ".ci" / name).read_text(encoding="utf-8") for name in ("run", "nightly", "outside")}
    assert "-m 'not slow and not nightly and not outside'" in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert "-m 'slow and not nightly' --ignore tests/docs/test_site.py" in text["run"]
    assert "-m slow tests/docs/test_site.py" in text["run"]
    assert "-m 'not outside' --hypothesis-profile nightly" in text["nightly"]
    assert "'.[test,outside]'" in text["outside"] and "-m outside" in text["outside"]


def test_the_other_pythons_are_the_systems_and_the_ends_of_each_minor_version():
    path = ROOT / ".ci" / "on_other_pythons.py"
    spec = importlib.util.spec_from_file_location("on_other_pythons", path)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    versions = ["3.10.9", "3.11.2", "3.11.10", "3.11.9", "3.12.3", "3.12.1", "3.12.2", "3.13.0"]
    found = {version: Path(version) for version in versions}
    assert list(script.chosen(found, ">=3.11.2", "3.12.2", "3.11.10")) == [
        *("3.11.2", "3.12.1", "3.12.2", "3.12.3", "3.13.0"),
    ]
    assert list(script.chosen(found, ">=3.11.3", "3.11.2", "3.13.0")) == ["3.11.9", "3.11.10", "3.12.1", "3.12.3"]
