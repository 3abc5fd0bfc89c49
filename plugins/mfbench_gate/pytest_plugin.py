"""A pytest plugin: the fixture ``benchmark_method`` and a marker. Every pytest run imports it, so it must be light."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable


class BenchmarkMethod(Protocol):
    """The fixture ``benchmark_method``."""

    def __call__(self, expression: str, dataset: str, *, kind: str | None = None, random_state: int = 0) -> Any:
        """Measure the fit of a selector or classifier with pytest-benchmark.

        Parameters
        ----------
        expression : str
            As in `mfbench.make`: a registered name, optionally with parameters.
        dataset : str
            As in `mfbench.load_dataset`. Categories are encoded and numbers standardised, as in a suite.
        kind : {"selector", "classifier"} or None, default=None
            What to build; required if the name is registered as both.
        random_state : int, default=0
            Seed, for estimators that accept one.

        Returns
        -------
        estimator
            The fitted estimator.
        """


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker of `mfbench.testing.parametrize_plugin`, which otherwise only pytest-xdist declares."""
    config.addinivalue_line("markers", "xdist_group(name): with --dist loadgroup, one process runs all tests of it")


@pytest.fixture
def benchmark_method(request: pytest.FixtureRequest) -> BenchmarkMethod:
    """Measure the fit of a registered method on a registered dataset with pytest-benchmark.

    A warm-up fit before the first measurement loads and compiles code.
    """
    if not request.config.pluginmanager.hasplugin("benchmark"):
        pytest.fail("the fixture benchmark_method needs pytest-benchmark: pip install pytest-benchmark", pytrace=False)
    benchmark: Callable[..., Any] = request.getfixturevalue("benchmark")

    def measure(expression: str, dataset: str, *, kind: str | None = None, random_state: int = 0) -> Any:
        from sklearn.base import clone

        from mfbench import load_dataset, make
        from mfbench.data.prepare import Columns, Encoder

        data = load_dataset(dataset)
        X = Encoder(Columns.of(data), "standard").fit(data.X).transform(data.X)
        estimator = make(expression, kind)
        if "random_state" in estimator.get_params(deep=False) and "random_state" not in expression:
            estimator.set_params(random_state=random_state)
        clone(estimator).fit(X, data.y)
        benchmark.extra_info |= {"method": expression, "dataset": dataset}  # type: ignore[attr-defined]
        return benchmark(lambda: clone(estimator).fit(X, data.y))

    return measure
