"""The site: built without a warning, complete, its links lead somewhere, readable on a wide and a narrow screen."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from mfbench.host.registry import load_registry

bs4 = pytest.importorskip("bs4", reason="the extra docs is not installed")
pytest.importorskip("pydata_sphinx_theme", reason="the extra docs is not installed")
pytestmark = pytest.mark.slow(reason="builds the site and runs its examples, two minutes")

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = os.environ.get("MFBENCH_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
AXE = Path(os.environ.get("MFBENCH_AXE", "node_modules/axe-core/axe.min.js"))
REGISTRY = load_registry(strict=True)
BUILT_IN = [
    pytest.param(entry, id=f"{kind}-{name}")
    for kind, table in (("selector", REGISTRY.listed("selector")), ("classifier", REGISTRY.listed("classifier")))
    for name, entry in sorted(table.items())
    if entry.plugin.distribution == "mfbench"
]
WIDTHS = (1280, 400)
WIDER_THAN_THE_SCREEN = """[document.documentElement, ...document.querySelectorAll(".bd-article-container")]
    .some(element => element.scrollWidth > element.clientWidth)"""
COVERED_FIRST_COLUMNS = """[...document.querySelectorAll(".pst-scrollable-table-container")].filter(box => {
    box.scrollLeft = box.scrollWidth
    const left = box.getBoundingClientRect().left
    return [...box.querySelectorAll("tr > :first-child")].some(cell => {
        const {x, width} = cell.getBoundingClientRect()
        const opaque = /^rgb\\(/.test(getComputedStyle(cell).backgroundColor)
        return !opaque || Math.abs(x - left) > 2 || width > box.clientWidth / 2
    })
}).length"""
LOOKED_AT = (
    "index",
    "docs/methods",
    "docs/suites",
    "methods/margin/IMMIGRATE",
    "reports/uci/report",
    "reports/README",
    "docs/gallery/index",
    "docs/gallery/plot_gate",
)
# Markup of a docstring that was not understood: underlines, references, roles, paragraphs to fill in.
RAW = re.compile(r"-{4,}|\[\w+\]_|:\w+:`|``|%\(|\bR[0-9a-f]{10,}-\d")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site in an environment that is not activated; a warning is an error, such as a link to nothing."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, ROOT / "docs" / "site" / "build.py", folder]
    system = {**os.environ, "PATH": os.defpath}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=system)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.parametrize(("words", "code", "text"), [(["--help"], 0, "build/site"), ([], 2, "required: DIR")])
def test_the_program_says_how_it_is_used(words, code, text):
    command = [sys.executable, ROOT / "docs" / "site" / "build.py", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert text in done.stdout + done.stderr and "Traceback" not in done.stderr


@cache
def parsed(path):
    return bs4.BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def pages_of(site):
    """Return the pages of the site itself; those of runs have tests of their own."""
    pages = {path for path in site.rglob("*.html") if not path.is_relative_to(site / "_static")}
    return sorted(pages - set(site.glob("reports/*/page.html")))


@pytest.mark.parametrize("entry", BUILT_IN)
def test_every_registered_estimator_has_a_page(site, entry):
    module, _, name = entry.spec.factory.partition(":")
    article = parsed(site / "methods" / entry.plugin.name / f"{name}.html").find("article")
    assert article.find("a", href=f"../../docs/methods.html#{entry.spec.name}")
    for code in article.find_all("pre"):
        code.extract()
    text = article.get_text(" ")
    assert " ".join(entry.spec.summary.split()) in " ".join(text.split())
    assert not RAW.search(text), RAW.search(text)
    if module.startswith("mfbench_"):
        docstring = getattr(import_module(module), name).__doc__
        titles = {title.get_text().rstrip(":") for title in article.select(".field-odd, .field-even, .rubric")}
        headings = set(re.findall(r"^ *(\w[\w ]*)\n +-{3,}$", docstring, re.MULTILINE))
        assert headings - {"See Also"} <= titles
        assert article.find("a", href=re.compile("_modules/"))
    overview = parsed(site / "docs" / "methods.html").find("article")
    assert overview.find("a", href=f"../methods/{entry.plugin.name}/{name}.html")


def test_formulas_need_no_script(site):
    article = parsed(site / "methods" / "margin" / "IMMIGRATE.html").find("article")
    assert article.find("math", display="block").find("munder")


def test_every_document_and_report_is_on_the_site(site):
    documents = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
    for path in [*documents, *(ROOT / "docs").rglob("*.md"), *(ROOT / "reports").glob("*/*.md")]:
        page = site / path.relative_to(ROOT).with_suffix(".html")
        title = re.search(r"^# (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)[1]
        assert parsed(page).find("h1").get_text().rstrip("#") == title.replace("`", ""), page


def test_the_gallery_leads_to_the_page_of_each_bundle(site):
    gallery = site / "reports" / "README.html"
    linked = {gallery.parent / link["href"] for link in parsed(gallery).find_all("a", href=re.compile(r"/page\.html$"))}
    claims = {site / path.relative_to(ROOT).with_name("page.html"): path for path in ROOT.glob("reports/*/claim.zip")}
    assert linked == set(claims) != set()
    for page, claim in claims.items():
        text = page.read_text(encoding="utf-8")
        assert hashlib.sha256(claim.read_bytes()).hexdigest()[:12] in text and str(ROOT) not in text


def test_the_board_rates_the_bundles(site):
    board = parsed(site / "reports" / "board.html")
    text = board.get_text(" ")
    for path in ROOT.glob("reports/*/claim.zip"):
        assert hashlib.sha256(path.read_bytes()).hexdigest() in text or path.parent.name in text
    assert parsed(site / "reports" / "README.html").find("a", href="board.html")


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_an_example_was_executed(site, path):
    article = parsed(site / "docs" / "gallery" / f"{path.stem}.html").find("article")
    assert "".join(each.get_text() for each in article.select(".sphx-glr-script-out pre")).strip()
    (picture,) = article.select("img.sphx-glr-single-img")
    assert picture["src"].endswith(".svg") and len(picture["alt"]) > 20
    assert str(ROOT) not in article.get_text()


def test_links_lead_somewhere(site):
    lost, elsewhere = [], []
    for path in pages_of(site):
        for tag, attribute in (("a", "href"), ("img", "src"), ("script", "src"), ("link", "href")):
            for element in parsed(path).find_all(tag, **{attribute: True}):
                url = urlsplit(element[attribute])
                if url.scheme or url.netloc:
                    elsewhere += [] if tag == "a" and url.scheme == "https" and "." in url.netloc else [element]
                    continue
                target = (path.parent / unquote(url.path)).resolve() if url.path else path
                target = target / "index.html" if target.is_dir() else target
                if not target.is_file() or (url.fragment and not has_anchor(target, unquote(url.fragment))):
                    lost.append(f"{path.relative_to(site)}: {element[attribute]}")
    assert not lost
    assert not elsewhere, "the site asks no other host for anything"


def has_anchor(path, name):
    return parsed(path).find(id=name) is not None or parsed(path).find(attrs={"name": name}) is not None


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright for Python is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium: install Debian's package chromium")
    with playwright.sync_playwright() as session:
        browser = session.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def test_no_page_is_wider_than_the_screen(site, browser):
    requests, wide = [], []
    page = browser.new_page()
    page.on("request", lambda request: requests.append(request.url))
    for path in pages_of(site):
        if not path.is_relative_to(site / "_modules"):
            page.goto(path.as_uri(), wait_until="domcontentloaded")
            for width in (*WIDTHS, 320):
                page.set_viewport_size({"width": width, "height": 900})
                if page.evaluate(WIDER_THAN_THE_SCREEN):
                    wide.append((path.relative_to(site), width))
    page.close()
    assert not wide
    assert all(url.startswith(("file:", "data:")) for url in requests)


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("name", ["reports/uci/report", "methods/margin/IMMIGRATE"])
def test_the_first_column_of_a_wide_table_stays(site, browser, name, colours):
    page = browser.new_page(color_scheme=colours)
    page.goto((site / f"{name}.html").as_uri())
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.locator(".pst-scrollable-table-container").count()
        assert not page.evaluate(COVERED_FIRST_COLUMNS), width
    page.close()


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("name", LOOKED_AT)
def test_accessibility(site, browser, name, colours):
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: npm install axe-core")
    page = browser.new_page(color_scheme=colours)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.goto((site / f"{name}.html").as_uri())
        page.add_script_tag(path=str(AXE))
        problems = page.evaluate("axe.run().then(result => result.violations)")
        serious = [problem for problem in problems if problem["impact"] in ("serious", "critical")]
        assert not serious, json.dumps(serious, indent=1)[:4000]
    page.close()
