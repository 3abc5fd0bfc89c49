"""The kinds of protocol: their metrics, and how their trials run."""

from mfbench.run.trial.curve import TrialRunner
from mfbench.run.workers.worker import RUNNERS
from mfbench.suite.forms import DETECTION_METRICS, KINDS
from mfbench.suite.protocols import make_protocol


def test_rounds_are_scored_by_all_detection_scores():
    assert tuple(DETECTION_METRICS) == KINDS["ground-truth"].metrics == tuple(KINDS["ground-truth"].scores)


def test_a_protocol_names_how_its_trials_run():
    for kind in KINDS:
        protocol = make_protocol({"kind": kind, **KINDS[kind].values("sound")}, 0)
        assert protocol.task == KINDS[kind].task
        assert issubclass(RUNNERS[protocol.task], TrialRunner)
        assert KINDS[kind].predicts == protocol.task.predicts
