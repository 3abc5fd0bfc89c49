"""The gallery: a page for every run of a folder, links that work wherever it is, and no run lost in silence."""

import hashlib
import html
import re
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest

from mfbench.errors import MfbenchError, UsageError
from mfbench.host.registry import load_registry
from mfbench.report import present
from mfbench.report.contents import answer_of
from mfbench.report.pages import FILE
from mfbench.report.present import INDEX, write_gallery
from mfbench.run.store.file import FILE_NAME

HOSTILE = "</h2><script>alert(1)</script><img src=x onerror=alert(1)>"
REGISTRY = load_registry(only=[])


def cells(datasets=("d", "e")):
    spread = np.array([-0.02, -0.01, 0, 0.01, 0.02])
    return {(d, m): list(mean + spread[::step]) for d in datasets for m, mean, step in (("A", 0.9, 1), ("B", 0.8, -1))}


def links_of(index):
    return [html.unescape(link) for link in re.findall(r'<a href="([^"]*)"', index.read_text(encoding="utf-8"))]


@pytest.fixture
def short_pages(monkeypatch):
    """Write a word in place of each page, which takes a second to draw."""
    monkeypatch.setattr(present.pages, "page_of", lambda run, registry: "page")


@pytest.fixture
def place(tmp_path, write_run):
    """Return a function that writes a run at a path below the gallery."""

    def write(path, **options):
        run = write_run(options.pop("cells", cells()), **options)
        target = tmp_path / "gallery" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        return run, run.path.rename(target)

    return write


@pytest.mark.usefixtures("short_pages")
def test_the_index_leads_to_a_page_of_each_run(place, tmp_path):
    names = ["own/one", "own/two words & more#1?", "100%/ä:b", "c:/d"]
    run, _ = place(names[0])
    for name in names[1:]:
        place(name)
    index = write_gallery(tmp_path / "gallery", REGISTRY)
    assert index == tmp_path / "gallery" / INDEX
    links = links_of(index)
    assert sorted(unquote(link) for link in links) == sorted(f"{name}/{FILE}" for name in names)
    for link in links:
        assert not link.startswith("/") and not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", link)
        assert not set("#? ") & set(link)
        assert (index.parent / unquote(link)).is_file()
    text = index.read_text(encoding="utf-8")
    for sentence in answer_of(run):
        assert html.escape(sentence, quote=False).replace("'", "&#39;") in text
    assert "2 datasets, 2 methods, 20 trials. Profile quick" in text


@pytest.mark.usefixtures("short_pages")
def test_a_run_in_the_folder_itself_is_found(write_run):
    run = write_run(cells())
    assert links_of(write_gallery(run.path, REGISTRY)) == [FILE]


@pytest.mark.usefixtures("short_pages")
def test_titles_are_text(place, tmp_path):
    place("one", title=HOSTILE)
    text = write_gallery(tmp_path / "gallery", REGISTRY).read_text(encoding="utf-8")
    assert "<script" not in text and "<img" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text


@pytest.mark.usefixtures("short_pages")
def test_a_damaged_store_is_listed_and_the_others_are_written(place, tmp_path):
    place("a/first")
    place("c/last")
    damaged = tmp_path / "gallery" / "b" / HOSTILE.replace("/", "") / FILE_NAME
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(b"not a database" * 100)
    with pytest.raises(MfbenchError, match=r"^1 run missing in .*index\.html: ") as caught:
        write_gallery(tmp_path / "gallery", REGISTRY)
    assert not isinstance(caught.value, UsageError)
    assert str(damaged.parent) in str(caught.value)
    index = tmp_path / "gallery" / INDEX
    assert sorted(links_of(index)) == [f"a/first/{FILE}", f"c/last/{FILE}"]
    text = index.read_text(encoding="utf-8")
    assert len(re.findall("<li>", text)) == 1
    assert "<script" not in text
    assert "&lt;script&gt;" in text.partition("<li>")[2].partition("</li>")[0]


@pytest.mark.usefixtures("short_pages")
def test_a_page_that_cannot_be_written_does_not_keep_the_others(place, tmp_path):
    place("a/first")
    _, blocked = place("b/second")
    (blocked / FILE).mkdir()
    with pytest.raises(MfbenchError, match="1 run missing"):
        write_gallery(tmp_path / "gallery", REGISTRY)
    assert links_of(tmp_path / "gallery" / INDEX) == [f"a/first/{FILE}"]


def test_two_galleries_of_a_folder_are_equal(place, tmp_path):
    place("one")

    def build():
        write_gallery(tmp_path / "gallery", REGISTRY)
        files = sorted((tmp_path / "gallery").rglob("*.html"))
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

    first = build()
    assert len(first) == 2
    assert build() == first


@pytest.mark.parametrize("exists", [True, False])
def test_a_folder_without_runs_is_a_wrong_request(tmp_path, exists):
    folder = tmp_path / "empty"
    if exists:
        folder.mkdir()
    with pytest.raises(UsageError, match="holds no run" if exists else "is not a folder"):
        write_gallery(folder, REGISTRY)
    assert not (folder / INDEX).exists()


@pytest.mark.usefixtures("short_pages")
def test_no_file_is_written_outside_the_folder(place, tmp_path):
    place("one")
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    write_gallery(tmp_path / "gallery", REGISTRY)
    new = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()} - {
        path.relative_to(tmp_path) for path in before
    }
    assert new == {Path("gallery") / INDEX, Path("gallery/one") / FILE}
