"""The page in a browser: what a reader does with it, and what it must never do.

Needs Playwright for Python and a Chromium; for accessibility also axe-core. Without them the tests skip.
"""

import base64
import gzip
import json
import os
import re
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

from mfbench.host.registry import load_registry
from mfbench.model.trials import Status, TrialResult
from mfbench.report.present import write_page
from mfbench.run.merging import merge_runs
from mfbench.stats.results import Run
from mfbench_watch.server import make_server
from mfbench_watch.state import Watched

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright for Python is not installed")

CHROMIUM = os.environ.get("MFBENCH_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
AXE = Path(os.environ.get("MFBENCH_AXE", "node_modules/axe-core/axe.min.js"))
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: install Debian's package chromium")

HOSTILE = ("<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "=cmd|' /C calc'!A0", "{{7*7}}${7*7}")


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as session:
        browser = session.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def results(mean, number, folds=5, selected=(0,)):
    """Results of the folds of a cell, with selections and scores around a mean."""
    noise = np.random.default_rng(number).normal(0, 0.01, folds)
    return [
        TrialResult(
            key="",
            scores={"accuracy": float(mean + value)},
            fit_wall=0.1 * (number + 1),
            peak_memory=10**6,
            n_selected=len(selected),
            selected=np.array(selected),
        )
        for value in noise
    ]


@pytest.fixture(scope="module")
def run(tmp_path_factory, run_writer):
    """Four datasets, two of them of one collection, and three methods; one cell failed, one is incomplete."""
    failed = TrialResult(key="", status=Status.ERROR, error_type="ValueError", error_message=HOSTILE[0])
    cells = {
        (dataset, method): results(mean + shift, 3 * row + place)
        for row, (dataset, shift) in enumerate((("iris", 0.0), ("wine", -0.1), ("sonar", -0.2), ("glass", -0.3)))
        for place, (method, mean) in enumerate((("A", 0.9), ("B", 0.85), ("C", 0.7)))
    }
    cells["wine", "C"] = results(0.85, 20)
    cells["sonar", "C"] = [failed] * 5
    cells["sonar", "B"] = [*results(0.6, 9)[:4], failed]
    writer = run_writer(tmp_path_factory.mktemp("page"))
    collections = {"small": ["iris", "wine"]}
    return writer(cells, report={"reference": "B"}, collections=collections, left_out=[("gone", "no network")])


@pytest.fixture(scope="module")
def file(run):
    return write_page(run, load_registry(only=[]))


@pytest.fixture(scope="module")
def parts_file(tmp_path_factory, run_writer):
    """Names with commas and blanks; the cell that failed has an imputed value across datasets."""
    names = ("make(a=1, b=2)", "make(a=1, b=3)", "with blank")
    cells = {
        (name, method): results(mean, k) for name in names for k, (method, mean) in enumerate((("A", 0.9), ("B", 0.8)))
    }
    failed = TrialResult(key="", status=Status.ERROR, error_type="ValueError", error_message="no way")
    cells[names[2], "B"] = [failed] * 5
    writer = run_writer(tmp_path_factory.mktemp("parts"))
    return write_page(writer(cells, report={"missing": "worst-rank"}), load_registry(only=[]))


@pytest.fixture(scope="module")
def joined_file(tmp_path_factory, run_writer):
    """Two joined runs; neither planned method C on the first dataset."""
    writer, folder = run_writer(tmp_path_factory.mktemp("parts")), tmp_path_factory.mktemp("joined") / "run"
    parts = [
        writer({(f"d{i}", m): results(0.7, k) for i in range(2) for k, m in enumerate("AB")}),
        writer({("d1", "C"): results(0.9, 5)}),
    ]
    merge_runs([part.path for part in parts], folder)
    return write_page(Run(folder), load_registry(only=[]))


@pytest.fixture(scope="module")
def picture_file(tmp_path_factory, run_writer):
    """Seven datasets, enough for a statement about others, and methods with names."""
    cells = {
        (f"d{d}", m): results(mean, 3 * d + k)
        for d in range(7)
        for k, (m, mean) in enumerate((("A", 0.9), ("B", 0.8), ("C", 0.7)))
    }
    run = run_writer(tmp_path_factory.mktemp("picture"))(cells, report={"reference": "B"})
    run.meta.names.update({"A": "Alpha + k-NN", "B": "Beta"})
    return write_page(run, load_registry(only=[]))


@pytest.fixture(scope="module")
def hostile_file(tmp_path_factory, run_writer):
    writer = run_writer(tmp_path_factory.mktemp("hostile"))
    cells = {
        (dataset, method): results(0.9 - 0.1 * number, number)
        for dataset in HOSTILE
        for number, method in enumerate(HOSTILE)
    }
    failed = TrialResult(key="", status=Status.ERROR, error_type=HOSTILE[0], error_message=HOSTILE[1])
    cells[HOSTILE[3], HOSTILE[3]] = [failed] * 5
    describe = {name: f"{name} → knn" for name in HOSTILE}
    return write_page(
        writer(cells, features=HOSTILE, title=HOSTILE[1], describe=describe, left_out=[(HOSTILE[2], HOSTILE[0])]),
        load_registry(only=[]),
    )


@pytest.fixture
def view(browser):
    """Return a function that opens a page, and check at the end that it asked nobody and reported no error."""
    opened, problems = [], []

    def watch(page, path):
        page.on("console", lambda message: problems.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: problems.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (problems.append(f"dialog: {dialog.message}"), dialog.dismiss()))

        def seen(request):
            if request.url.partition("#")[0] != path.as_uri() and not request.url.startswith("data:"):
                problems.append(f"request: {request.url}")

        page.on("request", seen)

    def open_page(path, fragment="", **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        opened.append(context)
        page = context.new_page()
        watch(page, path)
        page.goto(path.as_uri() + fragment)
        return page

    yield open_page
    for context in opened:
        context.close()
    assert problems == []


def column(page, number):
    return page.locator("#scores tbody tr:visible").evaluate_all(
        f"rows => rows.map((row) => row.cells[{number}].textContent)"
    )


def backgrounds(page, dataset):
    cells = page.locator("#scores tbody tr", has_text=dataset).locator("td")
    return cells.evaluate_all("cells => cells.map((cell) => getComputedStyle(cell).backgroundImage)")


def serious_findings(page):
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: npm install --no-save axe-core")
    page.add_script_tag(content=AXE.read_text())
    findings = page.evaluate("axe.run()")["violations"]
    return [f"{f['id']}: {f['nodes'][0]['html']}" for f in findings if f["impact"] in ("serious", "critical")]


def heading(page, name):
    return page.locator("#scores thead button", has_text=re.compile(f"^{name}$"))


class TestScores:
    def test_sorting_by_a_column_and_back(self, view, file):
        page = view(file)
        before = column(page, 0)
        head = heading(page, "A")
        head.click()
        values = [float(text.split()[0]) for text in column(page, 1)]
        assert values == sorted(values, reverse=True)
        assert page.locator("#scores thead th[aria-sort]").get_attribute("aria-sort") == "descending"
        head.click()
        assert column(page, 0) == ["glass", "sonar", "wine", "iris"]
        head.click()
        assert column(page, 0) == before

    def test_a_cell_without_a_score_is_last_in_both_directions(self, view, file):
        page = view(file)
        head = heading(page, "C")
        for _ in range(2):
            head.click()
            assert column(page, 0)[-1] == "sonar"

    def test_filters_leave_verdicts_alone(self, view, file):
        page = view(file)
        verdicts = page.locator("#scores tfoot tr").last.locator("td").all_inner_texts()
        page.locator("#filter-datasets").fill("iris, wine")
        page.locator("#filter-methods").fill("a")
        assert column(page, 0) == ["iris", "wine"]
        assert page.locator("#scores thead th:visible").all_inner_texts() == ["dataset", "A"]
        page.locator("#filter-methods").fill("")
        assert page.locator("#scores tfoot tr").last.locator("td").all_inner_texts() == verdicts

    def test_a_name_with_blanks_and_commas_can_be_filtered(self, view, parts_file):
        page = view(parts_file)
        names = column(page, 0)
        page.locator("#filter-datasets").fill("make(a=1, b=2)")
        assert column(page, 0) == ["make(a=1, b=2)"]
        page.locator("#filter-datasets").fill("with blank, b=3,")
        assert column(page, 0) == ["make(a=1, b=3)", "with blank"]
        page.locator("#filter-datasets").fill(" , ")
        assert column(page, 0) == names

    def test_a_declared_group_has_verdicts_of_its_own(self, view, file):
        page = view(file)
        whole = page.locator("#scores tfoot").inner_text()
        page.locator("#group").select_option(label="the collection small (2)")
        assert page.locator("#scores tfoot").inner_text() != whole
        assert "On these 2 datasets" in page.locator("#group-answer").inner_text()
        page.locator("#group").select_option(index=0)
        assert page.locator("#scores tfoot").inner_text() == whole

    def test_a_cell_opens_its_folds(self, view, file):
        page = view(file)
        page.locator("#scores tbody tr", has_text="iris").locator("td button").first.click()
        text = page.locator("#cell").inner_text()
        assert "A on iris" in text
        assert len(re.search(r"accuracy of each fold\s+(.*)", text)[1].split(",")) == 5
        assert "u (5 ×)" in text
        page.keyboard.press("Escape")
        assert not page.locator("#cell").is_visible()

    def test_a_failed_cell_shows_its_error_as_text(self, view, file):
        page = view(file)
        page.locator("#scores tbody tr", has_text="sonar").locator("td button").last.click()
        assert f"error: ValueError: {HOSTILE[0]} (5 ×)" in page.locator("#cell").inner_text()

    def test_measured_partial_failed_and_imputed_cells_look_different(self, view, file, parts_file):
        own = backgrounds(view(file), "sonar")
        imputed = backgrounds(view(parts_file), "with blank")
        assert own[0] == imputed[0]
        assert len({own[0], own[1], own[2], imputed[1]}) == 4

    def test_an_imputed_cell_says_so_and_opens(self, view, parts_file):
        page = view(parts_file)
        cell = page.locator("#scores td.imputed")
        assert cell.count() == 1
        mark = cell.locator("button").evaluate("button => getComputedStyle(button, '::after').content")
        assert mark == '" imputed"'
        cell.locator("button").click()
        assert "error: ValueError" in page.locator("#cell").inner_text()

    def test_a_cell_that_no_run_planned_cannot_be_opened(self, view, joined_file):
        page = view(joined_file)
        row = page.locator("#scores tbody tr", has_text="d0")
        assert row.locator("td").count() == 3
        assert row.locator("td button").count() == 2
        row.locator("td button").first.focus()  # C, the first method, has no trial on d0
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("Enter")
        assert "C on d1" in page.locator("#cell").inner_text()

    @pytest.mark.parametrize(
        ("form", "start"),
        [("latex", "\\begin{tabular}{lrr}"), ("markdown", "| dataset | A | B |"), ("csv", "dataset,A,B\n")],
    )
    def test_what_is_on_screen_can_be_copied(self, view, file, form, start):
        page = view(file, permissions=["clipboard-read", "clipboard-write"])
        page.locator("#filter-methods").fill("a b")
        page.locator(f"[data-copy={form}]").click()
        playwright.expect(page.locator("#said")).not_to_be_empty()
        text = page.evaluate("navigator.clipboard.readText()")
        assert text.startswith(start)
        assert "iris" in text
        assert "C" not in text.splitlines()[0]
        if form == "latex":
            assert "\\textbf{90.0 $\\pm$" in text
            assert text.rstrip().endswith("\\end{tabular}")

    @pytest.mark.parametrize("lost", ["undefined", "{ writeText: () => Promise.reject(new Error('no')) }"])
    def test_without_a_clipboard_a_file_is_saved(self, view, file, lost):
        page = view(file)
        page.evaluate(f"Object.defineProperty(navigator, 'clipboard', {{ value: {lost} }})")
        with page.expect_download() as download:
            page.locator("[data-copy=csv]").click()
        assert Path(download.value.path()).read_text().startswith("dataset,A,B,C\n")
        assert "Saved as a file" in page.locator("#said").inner_text()

    def test_the_tab_key_reaches_the_table_whatever_is_filtered(self, view, file):
        page = view(file)
        page.locator("#filter-datasets").fill("glass")
        page.locator("#filter-methods").fill("b")
        assert page.locator("#scores tbody button[tabindex='0']:visible").count() == 1
        page.locator("#scores tbody button[tabindex='0']").focus()
        page.keyboard.press("Enter")
        assert "B on glass" in page.locator("#cell").inner_text()

    def test_the_keyboard_reaches_every_cell(self, view, file):
        page = view(file)
        page.locator("#scores tbody td button").first.focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        assert "B on wine" in page.locator("#cell").inner_text()
        assert page.locator("#scores tbody button[tabindex='0']").count() == 1


class TestPage:
    def test_the_answer_is_first(self, view, file):
        page = view(file)
        text = page.locator("header").inner_text()
        assert text.index("On these ") < text.index("Gap to the best") < text.index("remarks") < text.index("Setting")
        assert "5 failed (C 5" not in text.partition("Gap to the best")[0]

    def test_a_link_shows_the_same_view(self, view, file):
        page = view(file)
        page.locator("#filter-datasets").fill("iris")
        heading(page, "B").click()
        page.locator("#scores tbody tr:visible td button").first.click()
        again = view(file, "#" + page.url.partition("#")[2])
        assert column(again, 0) == ["iris"]
        assert again.locator("#scores th[aria-sort=descending]").inner_text().startswith("B")
        assert "A on iris" in again.locator("#cell").inner_text()

    def test_an_address_within_the_page_keeps_the_view(self, view, file):
        page = view(file, "#section-2")
        assert page.url.endswith("#section-2")
        page.locator("#filter-datasets").fill("iris")
        page.locator("nav a").last.click()
        assert column(page, 0) == ["iris"]
        heading(page, "A").click()
        assert "datasets=iris" in page.url
        assert "section" not in page.url

    def test_a_new_fragment_is_another_view(self, view, file):
        page = view(file, "#datasets=iris&sort=1.descending&shading=no&group=1&cell=0.0")
        assert page.locator("#cell").is_visible()
        page.evaluate("location.hash = '#methods=b'")
        playwright.expect(page.locator("#filter-methods")).to_have_value("b")
        # Sonar, on which one method failed and one is incomplete, decides nothing.
        assert column(page, 0) == ["iris", "wine", "glass", "sonar"]
        assert page.locator("#scores th[aria-sort]").count() == 0
        assert page.locator("#heat").is_checked()
        assert page.locator("#group").input_value() == "0"
        assert not page.locator("#cell").is_visible()

    def test_a_broken_fragment_is_no_error(self, view, file):
        page = view(file, "#sort=99.up&group=77&cell=x.y&theme=%3Cb%3E&datasets=%27%22")
        assert page.locator("#scores").is_visible()

    def test_light_and_dark(self, view, file):
        page = view(file, color_scheme="dark")
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.locator("#theme").click()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != dark
        assert "theme=light" in page.url

    def test_charts_are_drawn_with_the_same_specification(self, view, file):
        page = view(file)
        for place in page.locator(".picture[data-chart]").all():
            place.scroll_into_view_if_needed()
            place.locator("div.vega-embed svg, div svg.marks").first.wait_for(state="attached", timeout=20_000)

    def test_the_data_of_a_chart_can_be_saved(self, view, file):
        page = view(file)
        page.locator("#chart-score-time summary").click()
        with page.expect_download() as download:
            page.locator("[data-download=score-time]").click()
        lines = Path(download.value.path()).read_text().splitlines()
        assert "method" in lines[0]
        assert len(lines) >= 4

    @pytest.mark.parametrize("width", [375, 1280])
    def test_nothing_is_wider_than_the_window(self, view, file, width):
        page = view(file, viewport={"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width

    def test_without_javascript_it_is_a_document(self, view, file):
        page = view(file, java_script_enabled=False)
        assert page.locator("#scores tbody tr").count() == 4
        assert page.locator(".picture > svg, .picture > img").count() == page.locator("figure").count() > 2
        assert not page.locator(".filters").first.is_visible()
        assert page.locator("button:visible").count() == 0

    def test_print_leaves_the_controls_out(self, view, file):
        page = view(file)
        page.emulate_media(media="print")
        assert not page.locator(".filters").first.is_visible()
        assert page.locator("#scores").is_visible()
        # The headings are read from the cells: a heading that is repeated on the next page shows no button.
        before = page.locator("#scores thead th").last.evaluate("cell => getComputedStyle(cell, '::before').content")
        assert before == '"C"'

    def test_paper_is_white(self, view, file):
        page = view(file, "#theme=dark", color_scheme="dark")
        page.emulate_media(media="print", color_scheme="dark")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"

    def test_headings_stay_in_sight(self, view, file):
        page = view(file, viewport={"width": 720, "height": 180})
        page.evaluate("document.getElementById('scores').closest('.scroll').scrollTo(60, 60)")
        frame = page.locator(".scroll:has(#scores)").bounding_box()
        assert page.locator("#scores thead th").nth(1).bounding_box()["y"] == pytest.approx(frame["y"], abs=2)
        assert page.locator("#scores tbody th").nth(3).bounding_box()["x"] == pytest.approx(frame["x"], abs=2)

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_readers_with_other_senses(self, view, file, scheme):
        assert serious_findings(view(file, color_scheme=scheme, bypass_csp=True)) == []


class TestPicture:
    """The picture of the first screen: a row per method, for these datasets or for datasets like these."""

    def test_both_headlines_can_be_shown_and_linked(self, view, picture_file):
        page = view(picture_file)
        assert page.locator(".board:visible").count() == 1
        assert page.locator("#board-1 tbody .name span").all_inner_texts() == ["Alpha + k-NN", "Beta", "C"]
        assert page.locator(".answer:visible").inner_text().startswith("On these 7 datasets, Alpha + k-NN is better")
        page.get_by_role("button", name="Datasets like these").click()
        assert page.locator("#board-2").is_visible() and not page.locator("#board-1").is_visible()
        assert page.locator(".answer:visible").first.inner_text().startswith("On datasets like these, Alpha + k-NN")
        assert page.evaluate("location.hash") == "#board=2"
        assert view(picture_file, "#board=2").locator("#board-2").is_visible()
        assert view(picture_file, "#board=7").locator("#board-1").is_visible()

    def test_on_a_telephone_it_has_three_views(self, view, picture_file):
        page = view(picture_file, viewport={"width": 390, "height": 800})
        assert page.locator(".board:visible").bounding_box()["y"] < 360
        parts = {"gap": ".gaps", "versus": ".versus", "time": ".time"}
        for name, part in parts.items():
            page.locator(f"button[data-view={name}]").click()
            row = page.locator("#board-1 tbody tr").first
            assert [other for other in parts.values() if row.locator(other).is_visible()] == [part]
            assert page.evaluate("document.documentElement.scrollWidth") <= 390

    def test_on_a_telephone_a_dataset_is_a_card(self, view, picture_file):
        page = view(picture_file, viewport={"width": 390, "height": 800})
        row = page.locator("#scores tbody tr").first
        assert row.locator("td:visible").count() == 1
        row.locator("th button").click()
        assert row.locator("td:visible").count() == 3
        assert row.locator("th button").get_attribute("aria-expanded") == "true"
        row.locator("td button").nth(1).click()
        assert page.locator("#cell").inner_text().count("Beta on d0") == 1
        page.keyboard.press("Escape")
        page.set_viewport_size({"width": 1280, "height": 800})
        assert row.locator("th button").count() == 0
        assert page.locator("#scores thead").is_visible()

    def test_without_javascript_both_are_there(self, view, picture_file):
        page = view(picture_file, java_script_enabled=False)
        assert page.locator(".board:visible").count() == 2
        assert page.locator(".answer:visible").count() >= 2

    def test_names_find_columns_as_labels_do(self, view, picture_file):
        page = view(picture_file)
        for text in ("alpha", "A"):
            page.locator("#filter-methods").fill(text)
            assert page.locator("#scores thead button:visible").all_inner_texts()[1:] == (
                ["Alpha + k-NN"] if text == "alpha" else ["Alpha + k-NN", "Beta"]
            )

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_readers_with_other_senses(self, view, picture_file, scheme):
        assert serious_findings(view(picture_file, color_scheme=scheme, bypass_csp=True)) == []


def test_a_run_under_way_fills_its_cells(browser, tmp_path_factory, run_writer):
    failed = TrialResult(key="", status=Status.ERROR, error_type="ValueError", error_message="no way")
    cells = {("iris", "A"): results(0.9, 1), (HOSTILE[0], "A"): [*results(0.5, 2)[:2], failed, None, None]}
    run = run_writer(tmp_path_factory.mktemp("watched"))(cells)
    server = make_server(Watched(run.path))
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    page, problems = browser.new_page(), []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(f"http://127.0.0.1:{server.server_port}/")
    playwright.expect(page.locator("#state")).to_contain_text("8 of 10 trials have run; 1 failed (A 1).")
    assert page.locator("#body th").all_inner_texts() == ["iris", HOSTILE[0]]
    means = run.outcomes.groupby("dataset", sort=False)["accuracy"].mean()
    assert page.locator("#body td").all_inner_texts() == [f"{100 * mean:.1f}" for mean in means]
    assert page.locator("#body td.failed").get_attribute("title") == "3 of 5 trials, 1 failed"
    assert page.title() == "8 of 10 · Own suite"
    assert page.locator("img").count() == 0 and problems == []
    page.close()
    server.shutdown()
    server.server_close()


class TestHostileNames:
    def test_names_are_text_everywhere(self, view, hostile_file):
        page = view(hostile_file, permissions=["clipboard-read", "clipboard-write"])
        assert page.locator("#scores thead button").all_inner_texts()[1:] == list(HOSTILE)
        assert column(page, 0) == list(HOSTILE)
        assert page.locator("header .about").inner_text().startswith(HOSTILE[1])
        for place in page.locator(".picture[data-chart]").all():
            place.scroll_into_view_if_needed()
            place.locator("div svg").first.wait_for(state="attached", timeout=20_000)
        for button in page.locator("#scores tbody tr").last.locator("td button").all():
            button.click()
            page.keyboard.press("Escape")
        page.locator("[data-copy=csv]").click()
        playwright.expect(page.locator("#said")).not_to_be_empty()
        text = page.evaluate("navigator.clipboard.readText()")
        assert not any(line.startswith(("=", '"=')) for line in text.splitlines())
        assert page.locator("img[src=x]").count() == 0
        assert "49" not in page.locator("h1").inner_text()

    def test_without_javascript_too(self, view, hostile_file):
        page = view(hostile_file, java_script_enabled=False)
        assert page.locator("#scores tbody th").all_inner_texts() == list(HOSTILE)
        assert page.locator("img[src=x]").count() == 0

    def test_a_policy_that_allows_nothing_else(self, hostile_file):
        head = hostile_file.read_text()[:1000]
        assert "default-src &#39;none&#39;" in head
        assert "unsafe-eval" not in head
        assert "http" not in re.search(r'content="(default-src.*?)"', head)[1]


def test_data_in_the_page_are_the_figures_of_the_table(run, file):
    packed = re.search(r'id="data">(.*?)</script>', file.read_text())[1]
    data = json.loads(gzip.decompress(base64.b64decode(packed)))
    folds = data["scores"]["details"][0][0][0]
    mean = run.scores.set_index(["dataset", "method"]).loc[("iris", "A"), "mean"]
    assert np.mean(folds) == pytest.approx(mean, abs=1e-4)
