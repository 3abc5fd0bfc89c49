import sys

import pytest

from mfbench.errors import UsageError
from mfbench_gate import api as gating
from mfbench_gate.api import gate


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 0.0}, "not between 0 and 1"),
        ({"level": 1.5}, "not between 0 and 1"),
        ({"clock": "sun"}, "is not a clock: choose from cpu, wall"),
        ({"limits": ["time=0.5"]}, "at least 1"),
        ({"only": ["nothing"]}, "matches no dataset"),
        ({"profile": "nothing"}, "unknown profile"),
        ({"add": ["MINE = not_there:Mine"]}, "no module 'not_there'"),
        ({"profile": "per-dataset", "only": ["REL", "iris"]}, "each of its methods is tuned per dataset"),
        ({"part": "nothing"}, "unknown part 'nothing'"),
        ({"part": "small", "only": ["iris"]}, "no dataset and no method of the part 'small'"),
    ],
)
def test_bad_requests_end_before_anything_is_built(monkeypatch, options, message):
    monkeypatch.setattr(gating, "prepare_side", lambda *_: pytest.fail("an environment was made"))
    with pytest.raises(UsageError, match=message):
        gate("git:main", "git:HEAD", "uci", **options)


def test_a_side_that_does_not_exist():
    with pytest.raises(UsageError, match="neither a Python interpreter nor a revision"):
        gate("nothing", sys.executable, "uci", only=["iris", "1NN"])


@pytest.mark.slow(reason="starts eight processes that import everything")
def test_an_interpreter_against_itself():
    said = []
    comparison = gate(sys.executable, sys.executable, "uci", only=["iris", "1NN"], budget="60s", say=said.append)
    assert {cell.measure for cell in comparison.cells} >= {"fit", "predict", "accuracy"}
    assert not comparison.changes
    assert said[0] == f"preparing {sys.executable}"
