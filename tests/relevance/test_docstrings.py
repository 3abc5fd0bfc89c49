"""Paragraphs that docstrings share."""

from in_turn import in_turn

from mfbench_relevance import FVM, PSVM, RFVM, KernelRanking
from mfbench_relevance._docstrings import PARAGRAPHS


@in_turn("estimator", [FVM, PSVM, RFVM, KernelRanking])
def test_every_parameter_is_documented_once_and_no_placeholder_is_left(estimator):
    text = estimator.__doc__
    assert not [name for name in PARAGRAPHS if name in text]
    for name in estimator().get_params():
        if name in ("bins", "target_bins"):
            name = "bins, target_bins"
        assert text.count(f"\n{name} : ") == 1, name
