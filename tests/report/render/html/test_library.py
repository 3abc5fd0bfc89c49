"""The drawing library: kept once it is made."""

from types import SimpleNamespace

import pytest

from mfbench.report.render.html import page
from mfbench.report.render.html.page import drawing_library


@pytest.fixture
def bundles(monkeypatch, tmp_path):
    """Use an empty cache folder, and count how often the script is put together."""
    made = []

    def bundle(snippet):
        made.append(1)
        return "script ≈\n// second line\n"

    monkeypatch.setenv("MFBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(page, "drawing_engine", lambda: SimpleNamespace(javascript_bundle=bundle))
    return made


def fetch():
    """The script as a new process would get it."""
    return drawing_library.__wrapped__()


def kept_file(tmp_path):
    (path,) = (tmp_path / "cache").rglob("*.js")
    return path


def test_the_script_is_kept(bundles, tmp_path):
    assert fetch() == fetch() == "script ≈\n// second line\n"
    assert len(bundles) == 1
    assert [path.name for path in kept_file(tmp_path).parent.iterdir()] == [kept_file(tmp_path).name]


def test_a_folder_that_cannot_be_written_only_costs_time(bundles, tmp_path):
    (tmp_path / "cache").write_text("a file in the place of the folder")
    assert fetch() == fetch()
    assert len(bundles) == 2


def test_a_disk_that_fills_up_leaves_no_part(bundles, tmp_path, monkeypatch):
    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    assert fetch() == "script ≈\n// second line\n"
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_the_script_sets_the_function_that_draws():
    script = drawing_library()
    assert script.rstrip().endswith("window.vegaEmbed = vegaEmbed;") or "window.vegaEmbed" in script
