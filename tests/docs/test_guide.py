"""The commands of docs/guide.md, one after the other, do and show what the guide says."""

import os
import re
import shlex
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "guide.md").read_text(encoding="utf-8")
COMMANDS = [
    shlex.split(line.replace("\\\n", " "))
    for block in re.findall(r"```console\n(.*?)```", GUIDE, re.DOTALL)
    for line in re.findall(r"^\$ ((?:PYTHONPATH=\. )?mfbench .*?(?<!\\))$", block, re.MULTILINE | re.DOTALL)
]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Run the commands in a folder with the guide's module and a small file of data."""
    folder = tmp_path_factory.mktemp("guide")
    for name, body in re.findall(r"^`([\w.]+)`\n\n```python\n(.*?)```", GUIDE, re.MULTILINE | re.DOTALL):
        (folder / name).write_text(body, encoding="utf-8")
    rows = [f"{'yes' if i % 2 else 'no'},{i % 7},{i % 2 + i % 3}" for i in range(60)]
    (folder / "mine.csv").write_text("\n".join(["outcome,a,b", *rows]), encoding="utf-8")
    # The installed command, unlike python -m mfbench, does not import from the working directory.
    program = shutil.which("mfbench", path=sysconfig.get_path("scripts"))
    outputs = []
    for words in COMMANDS:
        start = words.index("mfbench")
        variables = os.environ | dict(text.split("=") for text in words[:start])
        command = [program, *words[start + 1 :], "--offline"]
        done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        outputs.append(done.stdout + done.stderr)
    return outputs


def table(text):
    """Return the numbers and marks of each labelled row of the table of scores."""
    rows = re.findall(r"^ ?(\S[\w.'/, -]*?) {2,}(\S.*?) *$", text, re.MULTILINE)
    return {label: tuple(re.split(r" {2,}", cells)) for label, cells in rows}


@pytest.mark.slow(reason="three runs of a part of a suite")
def test_the_guide(outputs):
    first, second, third = outputs
    (shown,) = re.findall(r"```text\n(.*?)```", GUIDE, re.DOTALL)
    assert len(table(shown)) == 8
    assert table(shown).items() <= table(first).items()
    assert "45 done before" in second
    assert "mine.csv" in table(third)
