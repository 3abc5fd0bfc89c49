"""The made pages of the site, without a site: what they are made of must be there."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def pages(tmp_path, monkeypatch):
    """Return the module that makes the pages, for reports in a folder of the test."""
    spec = importlib.util.spec_from_file_location("site_pages", ROOT / "docs" / "site" / "pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    (tmp_path / "reports" / "one").mkdir(parents=True)
    (tmp_path / "reports" / "published.toml").write_text('[[report]]\nfolder = "one"\n[[report]]\nfolder = "two"\n')
    return module


def test_a_report_of_the_list_that_was_not_made_is_named(pages, tmp_path):
    (tmp_path / "reports" / "one" / "report.md").write_text("# One\n")
    with pytest.raises(FileNotFoundError, match=r"^reports/two has no report\.md: run \.ci/publish two$"):
        pages.report_files()


def test_files_of_reports_are_in_the_order_of_the_list(pages, tmp_path):
    for name in ("two/report.md", "two/wins.svg", "two/claim.zip", "one/report.md", "another/text.md"):
        path = tmp_path / "reports" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    names = {folder: [path.name for path in files] for folder, files in pages.report_files().items()}
    assert list(names.items()) == [("one", ["report.md"]), ("two", ["report.md", "wins.svg"]), ("another", ["text.md"])]
