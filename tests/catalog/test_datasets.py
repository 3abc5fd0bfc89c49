"""`mfbench datasets …`; tests/e2e/test_data_cli.py runs the commands from outside."""

import pytest
import typer

from mfbench.errors import UnknownNameError, UsageError
from mfbench_catalog import cli as catalog


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MFBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("MFBENCH_DATA_DIR", raising=False)
    return tmp_path / "cache"


def test_show(capsys):
    catalog.show("wine", rows=1)
    text = capsys.readouterr().out
    assert "178" in text and "embedded" in text


def test_mistakes():
    with pytest.raises(UnknownNameError, match="collection"):
        catalog.list_datasets(collection="nothing")
    with pytest.raises(UsageError, match="defines its own columns"):
        catalog.show("wine", target="x")


def test_pull_reports_and_fails(capsys):
    with pytest.raises(typer.Exit) as exit_:
        catalog.pull(["wine", "import:none"])
    assert exit_.value.exit_code == 1
    text = capsys.readouterr().out
    assert "wine: made by a plugin, nothing to fetch" in text and "1 of 2 datasets failed" in text


def test_an_empty_cache(capsys):
    catalog.clear()
    catalog.verify()
    text = capsys.readouterr().out
    assert "is empty" in text and "0 of 0 datasets are sound, 0 damaged" in text
