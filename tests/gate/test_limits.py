"""Limits are read from words, and every mistake is one sentence."""

import pytest

from mfbench.errors import UnknownNameError, UsageError
from mfbench.model.evaluation import Score
from mfbench_gate.comparison import WorseLimits, parse_limits


def test_defaults():
    assert parse_limits([]) == WorseLimits(time=1.05, memory=1.10, scores={})
    assert WorseLimits().of_score("roc_auc", Score(), 0.8) == 0.01
    assert WorseLimits().of_score("rmse", Score(in_units=True), 5000.0) == 50.0  # a share of what it was


@pytest.mark.parametrize(
    "texts",
    [
        ["time=1.2", "memory=1.3", "accuracy=0.02"],
        ["time=1.2,memory=1.3,accuracy=0.02"],
        ["time = 1.2 ,", "memory=1.3, accuracy=2e-2"],
    ],
)
def test_limits_are_repeated_or_separated_by_commas(texts):
    limits = parse_limits(texts)
    assert limits == WorseLimits(1.2, 1.3, {"accuracy": 0.02})
    assert [limits.of(name) for name in ("time", "memory")] == [1.2, 1.3]
    assert [limits.of_score(name, Score(), 0.8) for name in ("accuracy", "mcc")] == [0.02, 0.01]


def test_a_mistake_is_one_sentence():
    for text, sentence in [
        ("time", "'time' is not a limit: write a measure and a number"),
        ("=1", "'=1' is not a limit"),
        ("fbeta(beta=2)", "'fbeta(beta=2)' is not a limit"),
        ("time=fast", "'time=fast' is not a ratio of head over base, at least 1: write it as in time=1.05"),
        ("time=5%", "'time=5%' is not a ratio"),
        ("time=nan", "is not a ratio"),
        ("memory=inf", "is not a ratio"),
        ("time=0.95", "'time=0.95' is not a ratio of head over base, at least 1"),
        ("accuracy=-0.01", "is not a loss, at least 0"),
        ("accuracy=1", "is not a loss, at least 0 and below 1: write it as in accuracy=0.01"),
        ("log_loss=-1", "is not a loss, at least 0: write it as in log_loss=0.01"),
        ("time=1.1,time=1.2", "there are two limits of time"),
    ]:
        with pytest.raises(UsageError) as raised:
            parse_limits([text])
        assert sentence in str(raised.value)
        assert "\n" not in str(raised.value)


def test_a_metric_with_parameters_is_found_however_it_is_spaced():
    limits = parse_limits(["fbeta( beta = 2, average='micro' )=0.02,time=1.1"])
    assert limits == WorseLimits(time=1.1, scores={"fbeta(beta=2, average='micro')": 0.02})


def test_an_unknown_measure_gets_a_suggestion():
    with pytest.raises(UnknownNameError, match=r"unknown measure 'acuracy': did you mean 'accuracy'"):
        parse_limits(["acuracy=0.01"])


def test_a_limit_of_zero_or_of_a_score_without_percent_is_accepted():
    assert parse_limits(["accuracy=0,log_loss=1.5,time=1"]) == WorseLimits(
        1.0, 1.10, {"accuracy": 0.0, "log_loss": 1.5}
    )
