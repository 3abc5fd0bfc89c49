"""The commands in the head of a Markdown report make the same report again, in another folder."""

import re
import shlex
import shutil
import textwrap
from pathlib import Path

import pytest
from hosts import mirror

SUITE = """
    [suite]
    name = "own"
    seed = 7
    [protocol]
    folds = 3
    repeats = 1
    [parts.some]
    only = ["iris", "mirror:pebbles", "1NN", "LDA"]
    [[datasets]]
    use = ["iris", "wine", "mirror:pebbles"]
    [[methods]]
    label = "1NN"
    classifier = "knn(n_neighbors=1)"
    [[methods]]
    label = "LDA"
    classifier = "lda"
    [[methods]]
    label = "DUM"
    classifier = "dummy"
"""
# What depends on when and where it ran.
TIMES = re.compile(r"\d[\d.]* (ms|s|min|h|MB|GB)\b")


def commands_of(text: str) -> list[list[str]]:
    """Return the words of the commands in the head of a report."""
    block = text.split("Made by\n\n", 1)[1].split("\n\n", 1)[0]
    return [shlex.split(textwrap.dedent(line)) for line in block.splitlines()]


def without_times(text: str) -> str:
    """Return a report with the amounts of time and memory replaced, and without comparisons of times."""
    sections = [section for section in text.split("\n## ") if not section.startswith("Time: ")]
    lines = [line for line in "\n## ".join(sections).splitlines() if "score-time" not in line]
    return TIMES.sub("T", "\n".join(lines))


@pytest.mark.parametrize("named", [True, False], ids=["option", "environment"])
def test_the_commands_work_as_printed(host, named, monkeypatch, tmp_path):
    data = str(mirror(tmp_path / "private"))
    options = ["--data-dir", data] if named else []
    if not named:
        monkeypatch.setenv("MFBENCH_DATA_DIR", data)
    host.in_process = True
    host.suite(SUITE)
    done = host.run("suite", "own.toml", "--part", "some", "--offline", *options)
    assert done.returncode == 0, done.stderr
    asked = ["--statistics", "--reference", "LDA", "--md", "--figures", "pictures", "--output", "out/report.md"]
    assert host.run("report", "own", *asked).returncode == 0
    first = (host.folder / "out" / "report.md").read_text()
    assert "![" in first and "](../pictures/critical-difference.svg)" in first
    assert data not in first
    commands = commands_of(first)
    assert [words[:2] for words in commands] == [["mfbench", "suite"], ["mfbench", "report"]]
    assert commands[0][-2:] == ["--data-dir", "DIR"] and "--offline" in commands[0]

    monkeypatch.delenv("MFBENCH_DATA_DIR", raising=False)
    for folder in ("reports", "out", "pictures"):
        shutil.rmtree(host.folder / folder)
    for words in commands:
        done = host.run(*(data if word == "DIR" else word for word in words[1:]))
        assert done.returncode == 0, done.stderr
    second = (host.folder / "out" / "report.md").read_text()
    assert without_times(second) == without_times(first)
    pictures = re.findall(r"!\[.*\]\((.*)\)", second)
    assert pictures and all((host.folder / "out" / Path(picture)).is_file() for picture in pictures)
