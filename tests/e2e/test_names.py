"""Names that attack what shows them: of a dataset, its features and classes, of methods and of the suite."""

import csv
import io
import itertools
import json
import re
import unicodedata
import xml.etree.ElementTree as ElementTree

import pytest

from mfbench.base.text import plain

ATTACKS = {
    "escapes": "\x1b[31m\x1b]0;owned\x07\x9b2J\x08\r",
    "bidi": "\u202eevil\u2066\u200f\u061c",
    "newlines": "one\r\n# two\n\n- three\u2028four\x85five",
    "markup": "[bold red]b[/b] :ok: [link=http://a.b]c[/link] [/]",
    "formula": "=cmd|' /C calc'!A0",
    "plus": "+1+cmd",
    "minus": "-2+3",
    "at": "@SUM(A1)",
    "tab": "\t=1+1",
    "html": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "markdown": "*a* _b_ `c` ```d [e](http://f.g) | h | ~~i~~ &lt; $j$ \\",
    "latex": "\\input{/etc/passwd} % $ # & _ ^ ~ {",
    "nul": "a\x00b\ufffe\uffff",
    "long": "x" * 10_000,
}
PLUGIN = """
    import numpy as np
    from mfbench import Dataset, DatasetSpec, hookimpl, ClassifierSpec
    from sklearn.naive_bayes import GaussianNB

    NAME = {name!r}

    class Complains(GaussianNB):
        def fit(self, X, y):
            raise ValueError(NAME)

    def load():
        y = np.arange(30) % 2
        X = np.random.default_rng(0).normal(size=(30, 3))
        return Dataset(
            name="d" + NAME, X=X, y=y.astype(np.int64), class_names=(NAME, "c" + NAME),
            feature_names=(NAME, "f" + NAME, "[/b]"), categorical=np.zeros(3, bool), source=NAME, license=NAME,
            citation=NAME,
        )

    @hookimpl
    def mfbench_datasets():
        return [DatasetSpec(name="nasty", summary=NAME, loader="names_plugin:load", source=NAME, note=NAME)]

    @hookimpl
    def mfbench_classifiers():
        return [ClassifierSpec(name="complains", summary=NAME, factory="names_plugin:Complains", paper=NAME)]
"""
SUITE = """
    [suite]
    name = "own"
    title = {name}
    [protocol]
    folds = 2
    repeats = 1
    inner_folds = 2
    [[datasets]]
    use = ["nasty", "iris"]
    [[methods]]
    label = {label}
    selector = "variance"
    classifier = "knn"
    top = 1
    [[methods]]
    label = "B"
    classifier = "knn"
    [[methods]]
    label = "C"
    classifier = "complains"
"""


def obeyed(text):
    """Return the signs of a text that a terminal or a reader's eye would obey."""
    return {sign for sign in text if sign != "\n" and unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp")}


def toml(text):
    return '"' + "".join(f"\\U{ord(sign):08x}" for sign in text) + '"'


def fences(text):
    """Return the lines of Markdown outside of code."""
    lines, fence = [], ""
    for line in text.split("\n"):
        if fence:
            fence = "" if line == fence else fence
        elif match := re.match("(`{3,})text$", line):
            fence = match[1]
        elif not line.startswith("    "):
            lines.append(line)
    return lines


def check_json(text):
    json.loads(text)


def check_csv(text):
    assert not obeyed(text)
    for cell in (cell for row in csv.reader(io.StringIO(text)) for cell in row):
        assert cell.lstrip()[:1] not in tuple("=+-@") or float(cell) == float(cell)


def check_markdown(text):
    assert not obeyed(text)
    lines = fences(text)
    headings = [line for line in lines if re.match("#+ ", line)]
    assert headings[0].startswith("# ") and all(line.startswith("##") for line in headings[1:])
    assert not any(re.search(r"(?<!\\)(`|<[a-z/])", line) for line in lines)
    for _, table in itertools.groupby(lines, lambda line: line.startswith("|")):
        assert len({len(re.findall(r"(?<!\\)[|]", line)) for line in table}) == 1 or not lines


def check_latex(text):
    assert not obeyed(text) and "\\input" not in text


def check_html(text):
    assert not obeyed(re.sub("<script>.*?</script>", "", text, flags=re.DOTALL))
    assert "<script>alert" not in text and "<img src=x" not in text


def check_svg(text):
    assert not obeyed(text)
    assert {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(text).iter()}.isdisjoint(
        {"script", "a"}
    )


FORMS = {
    "--full": lambda text: None,
    "--json": check_json,
    "--csv": check_csv,
    "--md": check_markdown,
    "--latex": check_latex,
    "--html": check_html,
}


def attack(host, name):
    """Use a name everywhere in a small run, and show it by every command in every form."""
    host.plugin("names_plugin", PLUGIN.format(name=name))
    suite = host.suite(SUITE.format(name=toml(name), label=toml("A" + name[:20].replace("\n", " ") + "Z")))

    def shown(*words, code=0):
        done = host.run(*words)
        assert done.returncode == code, (words, done.stderr)
        assert not obeyed(done.stderr), words
        assert "unexpected" not in done.stderr and "Traceback" not in done.stderr
        if "--html" not in words:
            assert not obeyed(done.stdout), words
        return done.stdout

    shown("suite", str(suite), code=1)
    run = str(host.run_folder().relative_to(host.folder))
    for form, check in FORMS.items():
        check(shown("report", run, form))
    assert name.isprintable() <= (plain(name)[:9] in shown("datasets", "show", "nasty").replace("\n", ""))
    for words in (["report", run], ["datasets", "list"], ["plugins"], ["suites"], ["report", run, "--figures", "out"]):
        shown(*words)
    for path in (host.folder / "out").iterdir():
        check_svg(path.read_text())
    shown("datasets", "show", name.replace("\0", "") or "x", code=2)
    shown("report", name.replace("\0", ""), code=2)


def test_the_names_of_a_run_are_text_in_every_output(host):
    host.in_process = True
    attack(
        host,
        "".join(ATTACKS[name] for name in ("formula", "escapes", "bidi", "newlines", "markup", "html", "markdown")),
    )


@pytest.mark.slow(reason="a run and fifteen commands for each name")
@pytest.mark.sampled(2, reason="a run and fifteen commands for each name")
@pytest.mark.parametrize("kind", ATTACKS)
def test_so_is_each_of_them(host, kind):
    attack(host, ATTACKS[kind])
