"""The chosen pipeline as plain scikit-learn: an estimator, and the lines of code that make it."""

from __future__ import annotations

from typing import Any

import pandas as pd
from sklearn.pipeline import Pipeline as Steps

from mfbench.host.expressions import parse
from mfbench.host.registry import Registry
from mfbench_select.features import TopFeatures, encoder_of
from mfbench_select.suite import ALL, LEARNERS, SELECTORS, Pipeline


def estimator_of(pipeline: Pipeline, frame: pd.DataFrame, registry: Registry, *, is_regression: bool) -> Any:
    """Return the unfitted scikit-learn pipeline for a frame of features."""
    numbers, categories = _columns(frame)
    encoder = encoder_of(numbers, categories)
    kind = "regressor" if is_regression else "classifier"
    learner = registry.make(_expression(pipeline.learner, LEARNERS[is_regression]), kind)
    _seed(learner)
    if pipeline.selector == ALL:
        return Steps([("encode", encoder), (kind, learner)])
    expression = _expression(pipeline.selector, SELECTORS)
    selector, spec = registry.make(expression, "selector"), registry.entry("selector", parse(expression).name).spec
    if is_regression and "target" in selector.get_params():
        selector.set_params(target="numbers")
    _seed(selector)
    return Steps([("features", TopFeatures(encoder, selector, pipeline.size, spec.raw_input)), (kind, learner)])


def _seed(estimator: Any) -> None:
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)


def _expression(code: str, parts: Any) -> str:
    return next((part.expression for part in parts if part.code == code), code)


def _columns(frame: pd.DataFrame) -> tuple[list[str], list[str]]:
    categories = [str(name) for name in frame if isinstance(frame[name].dtype, pd.CategoricalDtype)]
    return [str(name) for name in frame if str(name) not in categories], categories


def code_of(estimator: Any, frame: pd.DataFrame, table: str, target: str) -> str:
    """Return the lines of Python that make an estimator of `estimator_of`; `table` is the path of the Parquet file."""
    numbers, categories = _columns(frame)
    steps, imports = dict(estimator.steps), ["import pandas as pd", "from sklearn.pipeline import Pipeline"]
    learner_kind = next(kind for kind in ("classifier", "regressor") if kind in steps)
    parts = [steps[learner_kind]]
    if "features" in steps:
        parts.append(steps["features"].selector)
        imports.append("from mfbench_select.features import TopFeatures, encoder_of")
    else:
        imports.append("from mfbench_select.features import encoder_of")
    imports += [f"from {_public_module(part)} import {type(part).__name__}" for part in parts]
    lines = [*sorted(set(imports), key=lambda line: (line.startswith("from"), line)), ""]
    lines += [f'table = pd.read_parquet("{table}")', f"categories = {categories!r}", f"numbers = {numbers!r}"]
    lines.append("encoder = encoder_of(numbers, categories)")
    if "features" in steps:
        features = steps["features"]
        raw = ", raw=True" if features.raw else ""
        selector = f"{_call(features.selector)}, n_features={features.n_features}{raw}"
        lines.append(f"features = TopFeatures(encoder, {selector})")
        first = '("features", features)'
    else:
        first = '("encode", encoder)'
    lines.append(f'pipeline = Pipeline([{first}, ("{learner_kind}", {_call(steps[learner_kind])})])')
    lines.append(f"pipeline.fit(table[numbers + categories], table[{target!r}])")
    return "\n".join(lines) + "\n"


def _public_module(estimator: Any) -> str:
    module = type(estimator).__module__
    return ".".join(part for part in module.split(".") if not part.startswith("_"))


def _call(estimator: Any) -> str:
    """Return the call that makes an estimator, with the parameters that differ from their defaults."""
    defaults = type(estimator)().get_params(deep=False)
    own = {name: value for name, value in estimator.get_params(deep=False).items() if value != defaults[name]}
    return f"{type(estimator).__name__}({', '.join(f'{name}={value!r}' for name, value in own.items())})"
