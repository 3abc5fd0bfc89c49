"""The kinds of protocol: their metrics, and how their trials run."""

from mfbench.run.trial.curve import TrialRunner
from mfbench.run.workers.worker import RUNNERS
from mfbench.suite.forms import CURVE_METRICS, DETECTION_METRICS, KINDS, METRICS
from mfbench.suite.protocols import make_protocol


def test_metrics_have_one_order():
    assert tuple(DETECTION_METRICS) == KINDS["ground-truth"].metrics
    assert (*METRICS, *CURVE_METRICS) == KINDS["repeated-cv"].metrics


def test_a_protocol_names_how_its_trials_run():
    for kind in KINDS:
        protocol = make_protocol({"kind": kind, **KINDS[kind].values("sound")}, 0)
        assert protocol.task == KINDS[kind].task
        assert issubclass(RUNNERS[protocol.task], TrialRunner)
        assert KINDS[kind].predicts == protocol.task.predicts
