"""Names of several packages: the package is written where the name alone is ambiguous, and nowhere else."""

import pytest

from mfbench.errors import UnknownNameError, UsageError
from mfbench.host.expressions import NameTable, Plugin

HOST = Plugin("margin", "mfbench_margin.plugin", "mfbench", "1.0")
MINE = Plugin("mine", "my_package.plugin", "My.Package", "0.1")
LOOSE = Plugin("loose", "loose")


@pytest.fixture
def table():
    """Three packages: one name is that of all, another of one."""
    table = NameTable("selector", "see 'mfbench plugins'")
    for number, plugin in enumerate((HOST, MINE, LOOSE)):
        assert table.add("relieff", plugin, number)
    table.add("gap", MINE, 7)
    return table


def test_names_are_listed_as_they_must_be_written(table):
    assert table.listed == {"relieff@mfbench": 0, "relieff@My.Package": 1, "relieff@loose": 2, "gap": 7}


def test_what_a_name_stands_for(subtests, table):
    for name, home, key in [
        ("gap", "", "gap"),
        ("gap@my-package", "", "gap"),
        ("gap", "mfbench", "gap"),
        ("relieff@mfbench", "", "relieff@mfbench"),
        ("relieff@my_package", "", "relieff@My.Package"),
        ("relieff@mine", "", "relieff@My.Package"),
        ("relieff", "mfbench", "relieff@mfbench"),
        ("relieff@loose", "mfbench", "relieff@loose"),
    ]:
        with subtests.test(name=name, home=home, key=key):
            assert table.resolve(name, home) == key
            assert table.has(name)


def test_an_ambiguous_name_lists_the_choices(table):
    with pytest.raises(UsageError, match=r"'relieff': write 'relieff@My.Package' or 'relieff@loose' or"):
        table.resolve("relieff", "another")
    assert table.has("relieff")


def test_a_name_that_is_not_there_suggests_some_that_are(subtests, table):
    for name, near in [
        ("gap@mfbench", "choose from gap@My.Package"),
        ("relieff@other", "did you mean"),
        ("gpa", "did you mean 'gap'"),
        ("zzz", r"choose from gap, relieff@My.Package, .* \(see 'mfbench plugins'\)"),
    ]:
        with subtests.test(name=name, near=near):
            assert not table.has(name)
            with pytest.raises(UnknownNameError, match=near):
                table.resolve(name)


def test_two_plugins_of_one_package_are_told_apart_by_their_entry_points():
    table = NameTable("selector", "")
    for plugin in (HOST, Plugin("similarity", "mfbench_similarity.plugin", "mfbench", "1.0")):
        table.add("twin", plugin, plugin.name)
    assert table.listed == {"twin@margin": "margin", "twin@similarity": "similarity"}
    assert table.resolve("twin@similarity") == "twin@similarity"
    with pytest.raises(UsageError, match="'twin@margin' or 'twin@similarity'"):
        table.resolve("twin", "mfbench")


def test_a_plugin_adds_a_name_once(table):
    assert not table.add("gap", MINE, 8)
    assert table.listed["gap"] == 7
