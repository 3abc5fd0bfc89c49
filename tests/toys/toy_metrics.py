"""The built-in metrics as tests use them."""

from mfbench.host.registry import load_registry
from mfbench.model.evaluation import CURVE_METRICS, Score
from mfbench.run.trial.metrics import resolve_metrics
from mfbench_protocols.plugin import DETECTION_METRICS

REGISTRY = load_registry(only=())
METRICS = {
    metric.name: metric for metric in resolve_metrics((n for n in REGISTRY.listed("metric") if ":" not in n), REGISTRY)
}
SCORES = {
    **DETECTION_METRICS,
    **CURVE_METRICS,
    **{name: Score.of(metric.spec) for name, metric in METRICS.items()},
}
LOSSES = {name: Score(greater_is_better=False) for name in SCORES}


def metrics_of(*names):
    """The metrics of these names."""
    return resolve_metrics(names, REGISTRY)
