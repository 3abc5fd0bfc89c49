"""A plugin in a temporary folder adds a section to every form of the report; one that fails is named in a note."""

import json
import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "plugins.md"
FAILING = """
    from mfbench import hookimpl

    @hookimpl
    def mfbench_report_sections(run):
        raise RuntimeError("no energy left")
"""


def test_the_documented_plugin_adds_its_section(host, small_suite):
    host.in_process = True
    small_suite(host, {"1NN": "knn(n_neighbors=1)", "NBC": "naive-bayes"})
    text = PAGE.read_text(encoding="utf-8").partition("### `mfbench_report_sections`")[2]
    host.plugin("energy", re.search(r"```python\n(.*?)```", text, re.DOTALL)[1])
    host.plugin("broken", FAILING)
    first = host.run("suite", "own.toml", "--jobs", "1")
    assert first.returncode == 0, first.stderr
    assert "Energy" not in first.stdout
    full = host.run("report", "own", "--full").stdout
    assert "Energy" in full and "kWh: at 50 W per worker." in full
    for text in (first.stdout, full):
        assert "plugin 'broken' of broken: mfbench_report_sections failed with" in " ".join(text.split())
        assert "RuntimeError: no energy left" in text
    markdown = host.run("report", "own", "--md").stdout
    assert "## Energy" in markdown and "| method | kWh |" in markdown
    content = json.loads(host.run("report", "own", "--json").stdout)
    assert set(content["plugin_data"]) == {"energy"}
    (problem,) = content["plugin_problems"]
    assert "no energy left" in problem
    assert set(content["plugin_data"]["energy"]["seconds"]) == {"1NN", "NBC"}
