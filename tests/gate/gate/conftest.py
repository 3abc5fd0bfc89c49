"""Replicates without processes: costs from a formula, and methods that are missing, fail or end their process."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

from mfbench_gate.gate.measure import BASE


@dataclass
class Model:
    """What the two sides do. Ratios are head over base, by method."""

    ratios: dict[str, float] = field(default_factory=dict)
    noise: float = 0.01
    missing: dict[str, str] = field(default_factory=dict)  # on the head
    judged: dict[str, list[str]] = field(default_factory=dict)  # on both sides
    failing: dict[str, str] = field(default_factory=dict)  # on the head
    deadly: set[str] = field(default_factory=set)  # on the head
    flipped: dict[str, int] = field(default_factory=dict)  # rows that the head predicts differently
    numpy: str = "2.0"  # on the head
    seed: int = 0
    on_run: Callable[[], None] = lambda: None
    started: list[str] = field(default_factory=list)
    order: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self):
        self.rng = np.random.default_rng(self.seed)


class FakeReplicate:
    def __init__(self, model, side):
        self.model, self.side, self.is_alive = model, side, True
        self.missing = model.missing if side != BASE else {}
        self.judged = model.judged
        model.started.append(side)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.is_alive = False

    def versions(self):
        return {"numpy": "2.0" if self.side == BASE else self.model.numpy}

    def run(self, trial, rounds, left):
        assert self.is_alive
        model, method, is_head = self.model, trial.method, self.side != BASE
        model.order.append((method, self.side))
        model.on_run()
        if is_head and method in model.failing:
            return {"status": "error", "message": model.failing[method]}
        if is_head and method in model.deadly:
            self.is_alive = False
            return {"status": "crash", "message": "the process was killed by SIGSEGV"}
        factor = (model.ratios.get(method, 1.0) if is_head else 1.0) * np.exp(model.rng.normal(0, model.noise))
        predictions = [0] * 20
        if is_head:
            predictions[: model.flipped.get(method, 0)] = [1] * model.flipped.get(method, 0)
        return {
            "status": "ok",
            "fit_cpu": 0.1 * factor,
            "fit_wall": 0.2 * factor,
            "predict_cpu": 0.05,
            "predict_wall": 0.05,
            "memory": 5e7,
            "duration": 0.15,
            "scores": {"accuracy": 1.0 - sum(predictions) / 20},
            "predictions": predictions,
        }


@pytest.fixture
def fake():
    """Return a model and the function that starts its replicates."""

    def make(**keywords):
        model = Model(**keywords)
        return model, lambda side: FakeReplicate(model, side)

    return make
