"""The kinds of protocol: their metrics, and how their trials run."""

from mfbench.run.trial.detection_scores import DETECTION_SCORES
from mfbench.run.trial.metrics import METRICS, SCORES
from mfbench.run.workers.worker import RUNNERS
from mfbench.suite.forms import CURVE_METRICS, DETECTION_METRICS, KINDS
from mfbench.suite.protocols import make_protocol


def test_metrics_have_one_order():
    assert tuple(DETECTION_SCORES) == DETECTION_METRICS == KINDS["ground-truth"].metrics
    assert set(SCORES) == {*METRICS, *DETECTION_METRICS, *CURVE_METRICS}
    assert {*METRICS, *CURVE_METRICS} == set(KINDS["repeated-cv"].metrics)


def test_a_protocol_names_how_its_trials_run():
    for kind in KINDS:
        protocol = make_protocol({"kind": kind, **KINDS[kind].values("sound")}, 0)
        assert protocol.task == KINDS[kind].task
        assert protocol.task in RUNNERS
        assert KINDS[kind].predicts == (protocol.task == "prediction")
