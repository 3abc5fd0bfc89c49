"""A worker: it shares selector fits, and the protocol chooses how its trials run."""

import pickle
import socket

from sklearn.dummy import DummyClassifier
from sklearn.utils import check_random_state
from small_runs import job_of
from threadpoolctl import threadpool_limits

from mfbench import ClassifierSpec
from mfbench.host.registry import load_registry
from mfbench.model.trials import TrialResult
from mfbench.processes.channel import framed, receive
from mfbench.run.trial.curve import PredictionRunner
from mfbench.run.workers import worker as module
from mfbench.run.workers.job import BUILT_IN
from mfbench.run.workers.worker import FOLDS_KEPT, Worker


def test_the_fit_of_the_first_is_handed_to_the_others(prepared, tmp_path):
    plan, _, registry = prepared
    first, second = (next(t for t in plan.trials if t.method == label and t.fold == 0) for label in "AB")
    job = job_of(plan, tmp_path)
    _, shared = Worker(job, registry).run(first, {})
    assert len(shared) == 1
    # Another worker that has never fitted the selector must use what it is given: mark it to see that it does.
    key, selection = next(iter(shared.items()))
    marked = {key: type(selection)(selection.weights[::-1], selection.column_weights[::-1], 123.0, 4.0)}
    result, exported = Worker(job, registry).run(second, marked)
    assert result.select_wall == 123.0 and exported == {}
    assert result.weights.tolist() == selection.weights[::-1].tolist()


def test_the_protocol_chooses_how_trials_run(prepared, tmp_path):
    plan, _, registry = prepared
    worker = Worker(job_of(plan, tmp_path), registry)
    assert plan.loaded.spec.predicts
    assert type(worker._runner) is PredictionRunner


def test_the_last_folds_are_kept(prepared, tmp_path):
    plan, _, registry = prepared
    worker = Worker(job_of(plan, tmp_path), registry)
    trial = next(t for t in plan.trials if t.method == "D")
    assert worker._fold(trial) is worker._fold(trial)
    for t in plan.trials:
        worker._fold(t)
    assert len(worker._folds) == min(FOLDS_KEPT, 3)


class _Draws(DummyClassifier):
    """Compiles nothing, but draws as estimators do that are not seeded."""

    def fit(self, X, y, sample_weight=None):
        check_random_state(self.random_state).random_sample()
        return super().fit(X, y)


def test_the_first_fit_of_a_worker_is_seeded_and_leaves_the_random_state_alone(prepared, tmp_path, make_plugin):
    plan, _, _ = prepared
    spec = ClassifierSpec(name="knn", summary="", factory=_Draws, warm_up=True)
    registry = load_registry(only=[], extra=[("own", make_plugin("own", classifiers=[spec]))])
    trial = next(trial for trial in plan.trials if trial.method == "D")
    result, _ = Worker(job_of(plan, tmp_path), registry).run(trial, {})
    assert (result.status, result.touched) == ("ok", "")


def test_a_result_that_cannot_be_sent_fails_its_trial_and_ends_the_worker(prepared, tmp_path, monkeypatch):
    plan, _, registry = prepared
    result = TrialResult(key="key", duration=2.0, scores={"accuracy": lambda: 1.0})
    monkeypatch.setattr(module, "_prepared", (job_of(plan, tmp_path), registry))
    monkeypatch.setattr(Worker, "run", lambda *_: (result, {}))
    ours, theirs = socket.socketpair()
    with ours, theirs, threadpool_limits():
        ours.sendall(framed(pickle.dumps((plan.trials[0], {}))))
        module.serve(theirs, BUILT_IN)
        assert receive(ours) == b"ready"
        answered, fits, is_spent = pickle.loads(receive(ours))
    assert (answered.key, answered.status, answered.duration) == (plan.trials[0].key, "error", 2.0)
    assert (fits, is_spent) == ({}, True)
