import pytest
from opening import failure, opened, remark

from mfbench_check.display import NotApplicableError


def test_codes_instead_of_labels_are_caught_with_texts():
    error = failure("predictions", opened("broken_contract", "predicts-codes", "classifier"))
    assert error.expected == "predictions among the labels ['ash', 'beech', 'cedar']"


def test_a_fit_that_fails_on_texts_is_reported_with_one():
    error = failure("predictions", opened("broken_contract", "needs-numbers-as-labels", "classifier"))
    assert error.expected == "a fit on labels such as 'beech'"


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("sums-to-two", "a row sums to 2"),
        ("columns-reversed", "the largest probability belongs to the predicted class in 0 of 60 rows"),
        ("no-column-for-the-last", "an array of shape (60, 2), the smallest value is 0.0"),
    ],
)
def test_what_is_wrong_with_probabilities_is_stated(name, seen):
    assert failure("probabilities", opened("broken_contract", name, "classifier")).seen == seen


def test_a_classifier_need_not_have_probabilities():
    with pytest.raises(NotApplicableError, match="no predict_proba"):
        remark("probabilities", opened("correct_methods", "nearest-mean", "classifier"))


def test_probabilities_of_a_support_vector_machine_need_not_agree_with_its_predictions(monkeypatch):
    subject = opened("baselines", "svm-rbf", "classifier")
    monkeypatch.setitem(subject.spec.check_parameters, "probability", True)
    assert failure("probabilities", subject) is None


def test_what_is_wrong_with_a_path_is_stated():
    for name, seen in [
        ("flips-nothing", "60 of 60 predictions differ"),
        ("flips-itself", "its predictions changed after with_flip(True)"),
        ("flips-nowhere", "none has it"),
        ("flips-without-grid", "there are none"),
    ]:
        assert failure("path-predictions", opened("broken_contract", name, "classifier")).seen == seen


def test_a_classifier_need_not_have_a_path():
    with pytest.raises(NotApplicableError, match="no path"):
        remark("path-predictions", opened("correct_methods", "nearest-mean", "classifier"))


@pytest.mark.parametrize("name", ["immigrate", "im4e-immigrate"])
def test_a_right_path_passes(name):
    assert remark("path-predictions", opened("margin", name, "classifier")) == "2 values of prune"
