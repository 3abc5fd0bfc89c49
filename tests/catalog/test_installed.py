"""`mfbench suites` and `mfbench plugins`."""

import json

import pytest

from mfbench.errors import UnknownNameError
from mfbench_catalog.cli import plugins, suites


def test_the_schema_is_printed_instead_of_the_list(capsys):
    suites(schema=True)
    assert "methods" in json.loads(capsys.readouterr().out)["properties"]


def test_suites_are_listed(capsys):
    suites()
    assert "uci" in capsys.readouterr().out


def test_a_suite_lists_its_labels(capsys):
    suites("uci")
    lines = capsys.readouterr().out.splitlines()
    cells = {words[0]: words[1:] for words in map(str.split, lines) if words}
    assert cells["sonar"] == ["all"] and cells["1NN"] == ["knn(n_neighbors=1)", "all"]
    assert any(line.startswith("--part small: ") for line in lines)
    with pytest.raises(UnknownNameError, match="did you mean 'uci'"):
        suites("ucj")


def test_plugins_by_tag(capsys):
    plugins(tag=["margin"])
    assert "relieff" in capsys.readouterr().out
    with pytest.raises(UnknownNameError, match="did you mean 'margin'"):
        plugins(tag=["margins"])
