"""CITATION.cff keeps to its format, and agrees with the package and with what docs/citation.md prints."""

import datetime
import re
import tomllib
from pathlib import Path

import pytest
import yaml

import mfbench

ROOT = Path(__file__).resolve().parents[2]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# The Citation File Format 1.2.0: what is required, and the form of what is used here.
REQUIRED = {"authors", "cff-version", "message", "title"}
FORMS = {
    "abstract": str,
    "authors": list,
    "cff-version": str,
    "date-released": str,
    "keywords": list,
    "license": str,
    "message": str,
    "repository-code": str,
    "title": str,
    "type": str,
    "version": str,
}


def test_the_file_keeps_to_the_format():
    assert set(FORMS) >= set(CITATION) >= REQUIRED
    assert all(isinstance(CITATION[key], FORMS[key]) for key in CITATION)
    assert CITATION["cff-version"] == "1.2.0"
    assert CITATION["type"] == "software"
    assert all(set(author) == {"name"} and author["name"] for author in CITATION["authors"])
    assert len(set(CITATION["keywords"])) == len(CITATION["keywords"])
    assert CITATION["repository-code"].startswith("https://")


def test_it_names_this_package():
    assert CITATION["version"] == mfbench.__version__
    assert CITATION["license"] == PROJECT["license"]
    assert [author["name"] for author in CITATION["authors"]] == [author["name"] for author in PROJECT["authors"]]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{CITATION['version']}] - {CITATION['date-released']}" in changelog
    assert datetime.date.fromisoformat(CITATION["date-released"])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("author", CITATION["authors"][0]["name"]),
        ("title", CITATION["title"]),
        ("version", CITATION["version"]),
        ("year", CITATION["date-released"][:4]),
        ("license", CITATION["license"]),
        ("url", CITATION["repository-code"]),
    ],
)
def test_the_printed_entry_says_the_same(field, value):
    page = (ROOT / "docs" / "citation.md").read_text(encoding="utf-8")
    (entry,) = re.findall(r"```bibtex\n(.*?)```", page, re.DOTALL)
    (printed,) = re.findall(rf"^  {field} += \{{(.*)\}},$", entry, re.MULTILINE)
    assert printed.strip("{}") == value
