"""Every document is in the navigation of the site and in the list of README; needs no build of the site."""

import re
import runpy
from pathlib import Path
from posixpath import dirname, join, normpath

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = runpy.run_path(str(ROOT / "docs" / "site" / "pages.py"))
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ENTRY = re.compile(r"^(?!:)(?:.*<)?([^<>\n]+?)>?$", re.MULTILINE)


@pytest.fixture(scope="module")
def navigation():
    """Return the pages that the navigation shows, from the root of the site and without their endings."""
    texts = {**PAGES["made_pages"]()}
    for page, text in PAGES["additions"]().items():
        texts[page] = texts.get(page, "") + text
    below = {}
    for page, text in texts.items():
        names = [name for table in TOCTREE.findall(text) for name in ENTRY.findall(table)]
        below[page.rpartition(".")[0]] = {
            name[1:] if name.startswith("/") else normpath(join(dirname(page), name)) for name in names
        }
    reached, waiting = set(), ["README"]
    while waiting:
        page = waiting.pop()
        if page not in reached:
            reached.add(page)
            waiting += below.get(page, ())
    return reached


def test_the_navigation_shows_every_document_and_report(navigation):
    paths = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "reports").glob("*/*.md"), ROOT / "CHANGELOG.md"]
    pages = {str(path.relative_to(ROOT).with_suffix("")) for path in [*paths, ROOT / "CONTRIBUTING.md"]}
    assert not sorted(pages - navigation), "add these to docs/site/pages.py"


def test_readme_lists_every_document():
    documents = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## Documents\n")[2]
    linked = set(re.findall(r"^- \[(docs/[\w-]+\.md)\]", documents, re.MULTILINE))
    assert {str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md")} == linked


def test_the_gallery_names_the_suite_and_profile_of_each_report():
    links = re.findall(r"^- \[suite ([\w-]+), profile ([\w-]+).*?\]\((.+?)\): \w", PAGES["gallery"](), re.MULTILINE)
    texts = re.findall(r"^- \[(.+?)\]", PAGES["gallery"](), re.MULTILINE)
    assert len(set(texts)) == len(texts) == len(links)
    for suite, profile, name in links:
        assert f"mfbench suite {suite} --profile {profile}" in (ROOT / "reports" / name).read_text(encoding="utf-8")
    assert {name.partition("/")[0] for *_, name in links} == {
        path.parent.name for path in (ROOT / "reports").glob("*/*.md")
    }
