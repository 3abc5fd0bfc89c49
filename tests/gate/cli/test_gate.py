"""`mfbench gate`: what it passes on, what it writes, and its exit codes."""

import json

import pytest

from mfbench.cli import main
from mfbench.errors import MfbenchError
from mfbench_gate import api as gating
from mfbench_gate.comparison import CellVerdict, ComparedCell, Comparison, Side


@pytest.fixture
def comparison(monkeypatch):
    """Return a comparison that the command is given instead of measuring, and the arguments that it passed."""
    made, calls = Comparison(Side("git:main"), Side("git:HEAD"), title="toy"), []

    def gate(*words, **options):
        options.pop("say")("half way")
        calls.append((words, options))
        made.undecided_ok = options["undecided_ok"]
        return made

    monkeypatch.setattr(gating, "gate", gate)
    return made, calls


def run(words, capsys):
    with pytest.raises(SystemExit) as left:
        main(["gate", *words])
    output = capsys.readouterr()
    return left.value.code, output.out, output.err


def test_exit_codes(subtests, comparison, capsys):
    for verdicts, words, code in [
        ([], [], 3),
        ([CellVerdict.NO_WORSE], [], 0),
        ([CellVerdict.NO_WORSE, CellVerdict.UNDECIDED], [], 5),
        ([CellVerdict.NO_WORSE, CellVerdict.UNDECIDED], ["--undecided", "ok"], 0),
        ([CellVerdict.UNDECIDED, CellVerdict.WORSE], ["--undecided", "ok"], 4),
    ]:
        with subtests.test(verdicts=verdicts, words=words, code=code):
            made, _ = comparison
            made.cells += [
                ComparedCell(str(number), "d", "fit", 1.0, 1.2, verdict) for number, verdict in enumerate(verdicts)
            ]
            assert run(["git:main", "git:HEAD", "toy", *words], capsys)[0] == code


def test_options_are_passed_on_and_progress_is_shown(comparison, capsys):
    _, calls = comparison
    words = ["--budget", "90s", "--limit", "time=1.2", "--only", "A", "--clock", "wall", "--level", "0.01"]
    words += ["--part", "small"]
    _, _, err = run(["git:main", "git:HEAD", "toy", *words], capsys)
    ((names, options),) = calls
    assert names == ("git:main", "git:HEAD", "toy")
    assert {name: options[name] for name in ("budget", "limits", "part", "only", "clock", "level")} == {
        "budget": "90s",
        "limits": ["time=1.2"],
        "part": "small",
        "only": ["A"],
        "clock": "wall",
        "level": 0.01,
    }
    assert err == "gate: half way\n"


def test_json_is_all_of_the_output(comparison, capsys):
    _, out, _ = run(["git:main", "git:HEAD", "toy", "--json"], capsys)
    assert json.loads(out)["title"] == "toy"


def test_an_environment_that_does_not_build_is_one_sentence(monkeypatch, capsys):
    def fail(*_, **__):
        raise MfbenchError("the environment of abc cannot be built: no")

    monkeypatch.setattr(gating, "gate", fail)
    code, _, err = run(["git:main", "git:HEAD", "toy"], capsys)
    assert (code, err) == (1, "mfbench: the environment of abc cannot be built: no\n")
