"""The published reports are those of the list, made by the commands that the list gives."""

import importlib.util
import os
import re
import shlex
import subprocess
import sys
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
    assert (ROOT / "reports" / folder / "page.html").is_file()


def test_the_list_names_what_it_tests():
    keys = {"folder", "title", "suite", "report", "small", "picture"}
    assert all(set(entry) <= keys and entry["small"] for entry in ENTRIES.values())
    assert len({entry["title"] for entry in ENTRIES.values()}) == len(ENTRIES)


def test_the_picture_of_the_gallery_exists():
    chosen = {folder: entry["picture"] for folder, entry in ENTRIES.items() if entry.get("picture")}
    assert [name for folder, name in chosen.items() if not (ROOT / "reports" / folder / name).is_file()] == []


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
