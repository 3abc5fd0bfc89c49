"""What a user names by its import path is tried out in a child process before a run."""

import sys

import pytest

from mfbench.errors import UsageError
from mfbench.host import probes
from mfbench.host.expressions import Expression, parse
from mfbench.host.factories import takes_numbers
from mfbench.host.registry import load_registry
from mfbench.host.trying import check_usable
from mfbench.processes.call import ChildError


def entry_of(text, kind="selector", *, isolated=False):
    registry, expression = load_registry(only=["baselines"], isolated=isolated), parse(text, references=True)
    registry.declare_expression(kind, expression)
    name = registry.resolve(kind, expression.name)
    return registry.entries(kind, Expression(name, expression.params))[0], expression.params


@pytest.mark.parametrize(
    ("kind", "text", "reason"),
    [
        ("selector", "sklearn.decomposition:PCA", "its transform makes new columns; a selector has, after fit"),
        ("selector", "sklearn.svm:SVC", "nothing of what .*, after fit.X, y., feature_importances_, coef_"),
        ("selector", "sklearn.feature_selection:RFE", "it cannot be built: .*missing 1 required .*'estimator'"),
        ("selector", "sklearn.feature_selection:RFE(estimator=sklearn.svm:SVCC)", "it cannot be built: .*'SVCC'"),
        ("selector", "fractions:Fraction", "it has no fit; a selector has"),
        ("classifier", "sklearn.feature_selection:SelectKBest", "it has no predict; a classifier has fit and predict"),
        ("classifier", "fractions:Fraction", "it has no fit and no predict"),
    ],
)
def test_what_cannot_be_used_is_refused_with_what_is_looked_for(kind, text, reason):
    with pytest.raises(UsageError, match=f"cannot be used as a {kind}: {reason}"):
        check_usable(*entry_of(text, kind))


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("selector", "sklearn.feature_selection:f_classif"),
        ("selector", "sklearn.feature_selection:RFE(estimator=sklearn.svm:LinearSVC)"),
        (
            "selector",
            "sklearn.feature_selection:SelectKBest(score_func=sklearn.feature_selection:chi2)",
        ),  # refuses rows
        ("classifier", "sklearn.svm:SVC(C=2.0)"),
    ],
)
def test_what_can_be_used_or_refuses_a_few_rows_is_not(kind, text):
    check_usable(*entry_of(text, kind))


def test_what_plugins_register_is_not_tried_out():
    registry = load_registry(only=["baselines"])
    check_usable(registry.entry("selector", "variance"), {"no": "such parameter"})


def test_a_child_tries_it_out_once_and_knows_what_it_is_fitted_on(tmp_path, monkeypatch):
    (tmp_path / "tried_here.py").write_text("from sklearn.linear_model import Ridge\nclass Mine(Ridge): pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    entry, params = entry_of("tried_here:Mine(alpha=2.0)", isolated=True)
    check_usable(entry, params)
    monkeypatch.setattr(probes, "call", lambda *_, **__: pytest.fail("another child"))
    check_usable(entry, params)
    assert takes_numbers(entry, params) and "tried_here" not in sys.modules


def test_a_child_that_fails_speaks_against_nothing(monkeypatch):
    def call(*_, **__):
        raise ChildError("timeout", "it took too long")

    entry, params = entry_of("sklearn.svm:SVC", isolated=True)
    monkeypatch.setattr(probes, "call", call)
    check_usable(entry, params)
