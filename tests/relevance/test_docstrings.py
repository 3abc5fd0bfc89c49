"""Docstrings describe every parameter once."""

import inspect

from in_turn import in_turn

from mfbench_relevance import FVM, PSVM, RFVM, KernelRanking


@in_turn("estimator", [FVM, PSVM, RFVM, KernelRanking])
def test_every_parameter_is_documented_once(estimator):
    text = inspect.getdoc(estimator)
    for name in estimator().get_params():
        if name in ("bins", "target_bins"):
            name = "bins, target_bins"
        assert text.count(f"\n{name} : ") == 1, name
