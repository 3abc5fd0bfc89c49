"""The published reports are those of the list, made by the commands that the list gives."""

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
import zipfile
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def loaded(path):
    """Import a program that has no ending."""
    loader = SourceFileLoader("publish", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("publish", loader))
    loader.exec_module(module)
    return module


publish = loaded(ROOT / ".ci" / "publish")
ENTRIES = publish.entries()
MIRROR = ("--data-dir", "DIR")
CHART = re.compile(r"!\[[^]]*\]\(([^)#]+)\)")


def head_of(path):
    """Return the words of the commands in the head of a report."""
    block = path.read_text(encoding="utf-8").split("Made by\n\n", 1)[1].split("\n\n", 1)[0]
    return [shlex.split(line) for line in block.splitlines()]


@pytest.mark.parametrize("folder", ENTRIES)
def test_a_report_is_made_by_the_commands_of_the_list(folder):
    suite, report, *_ = publish.commands(ENTRIES[folder])
    assert head_of(ROOT / "reports" / folder / "report.md") in ([suite, report], [[*suite, *MIRROR], report])


def test_the_list_names_what_it_tests():
    keys = {"folder", "title", "suite", "report", "small", "pictures", "bundle"}
    assert all(set(entry) <= keys and entry["small"] for entry in ENTRIES.values())
    assert len({entry["title"] for entry in ENTRIES.values()}) == len(ENTRIES)


def test_git_has_few_pictures_of_a_report_and_the_bundle_of_the_list():
    for folder, entry in ENTRIES.items():
        files = {path.name: path for path in (ROOT / "reports" / folder).iterdir() if path.is_file()}
        pictures = {name for name in files if name.endswith((".svg", ".png"))}
        assert set(entry.get("pictures", ())) <= pictures and len(pictures) <= publish.PICTURES, folder
        texts = "".join(path.read_text(encoding="utf-8") for name, path in files.items() if name.endswith(".md"))
        assert [name for name in pictures if f"({name})" not in texts] == [], folder
        others = set(files) - pictures - {"README.md", "report.md"}
        assert others == ({"claim.zip"} if "bundle" in entry else set()), folder
        if "bundle" in entry:
            assert entry["bundle"] == words_of(files["claim.zip"])


def words_of(claim):
    """Return the words after 'mfbench suite' of the run of a bundle."""
    with zipfile.ZipFile(claim) as archive:
        meta = json.loads(archive.read("metadata.json"))
    words = [meta["suite"]["suite"]["name"], "--profile", meta["profile"]]
    words += ["--part", meta["part"]] if meta["part"] else []
    words += [word for glob in meta["only"] for word in ("--only", glob)]
    return [*words, *(["--jobs", "1"] if meta["protocol"]["kind"] == "timing" else [])]


def test_bundles_in_git_are_small():
    assert sum(path.stat().st_size for path in ROOT.glob("reports/*/claim.zip")) < 8e6


def test_a_report_keeps_the_descriptions_of_other_charts(tmp_path):
    entry = {"folder": tmp_path.name, "suite": ["own"], "pictures": ["b.svg"], "bundle": ["own", "--part", "small"]}
    (tmp_path / "report.md").write_text("# R\n\nProfile full.\n\n![A is 1](a.svg)\n\n![B is 2](b.svg)\n\nProfile\n")
    for name in "abc":
        (tmp_path / f"{name}.svg").touch()
    (tmp_path / "README.md").write_text("[c](c.svg)")
    publish.tidy(entry, tmp_path)
    assert sorted(path.name for path in tmp_path.glob("*.svg")) == ["b.svg", "c.svg"]
    title, note, *rest = (tmp_path / "report.md").read_text().strip().split("\n\n")
    assert rest == ["Profile full.", "A is 1", "![B is 2](b.svg)", "Profile"]
    assert title == "# R" and note.endswith("smaller run: `mfbench suite own --part small`.")


def test_every_chart_that_a_report_shows_exists():
    for page in ROOT.glob("reports/*/*.md"):
        for target in CHART.findall(page.read_text(encoding="utf-8")):
            assert (page.parent / target).is_file(), (page, target)


@pytest.mark.slow(reason="runs a small part of each published report")
@pytest.mark.sampled(8, reason="runs a small part of each published report")
@pytest.mark.parametrize("folder", ENTRIES)
def test_the_commands_in_the_head_of_a_report_work_as_printed(folder, tmp_path):
    stored, small = ROOT / "reports" / folder / "report.md", ENTRIES[folder]["small"]
    suite, report = head_of(stored)
    data = os.environ.get("MFBENCH_DATA_DIR")
    if suite[-2:] == [*MIRROR] and not data:
        pytest.skip("its data come from a mirror, and MFBENCH_DATA_DIR names none")
    suite += [word for glob in small for word in ("--only", glob)]
    for words in (suite, report):
        command = [sys.executable, "-m", *(data if word == "DIR" else word for word in words)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    page = tmp_path / "reports" / folder / "report.md"
    again = page.read_text(encoding="utf-8")
    assert again.splitlines()[0] == stored.read_text(encoding="utf-8").splitlines()[0]
    assert all(label in again for label in small if "*" not in label)
    assert all((page.parent / chart).is_file() for chart in CHART.findall(again))
