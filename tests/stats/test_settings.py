"""Settings refuse unknown names and impossible numbers, and know the names of all rules."""

import pytest
from toy_metrics import SCORES

from mfbench.errors import UnknownNameError, UsageError
from mfbench.stats.cells import RULE_NAMES, ComparisonSettings
from mfbench.stats.rules import RULES

SETTINGS = ComparisonSettings("accuracy", SCORES, "A", "corrected-t", 0.05, 1 / 3)


def test_every_rule_has_a_name():
    assert set(RULE_NAMES) == set(RULES)


def test_a_metric_has_its_own_direction():
    assert SETTINGS.replace(metric="log_loss").sign == -1
    assert SETTINGS.replace(metric="mcc").sign == 1


def test_unknown_words_and_impossible_numbers():
    for changes, kind in (({"test": "t"}, "test"), ({"published_test": "t"}, "test"), ({"missing": "m"}, "policy")):
        with pytest.raises(UnknownNameError, match=f"unknown {kind}"):
            SETTINGS.replace(**changes)
    with pytest.raises(UsageError, match="rope"):
        SETTINGS.replace(rope=-1)
