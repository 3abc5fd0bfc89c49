"""Audits: broken promises are found, kept ones are not called broken, and errors are counted by their definitions."""

import numpy as np
import pytest

import mfbench
from mfbench.data.prepare import Columns
from mfbench.errors import MfbenchError, UsageError
from mfbench.host.registry import load_registry
from mfbench.model.specs import SelectorSpec
from mfbench.suite.loading import load_suite
from mfbench.suite.plan import make_plan
from mfbench_audit.designs import DESIGNS, audit_design
from mfbench_audit.report import design_of
from mfbench_audit.trial import error_scores

SUITE = """
[suite]
name = "planted"
[protocol]
kind = "audit"
rounds = 40
[[datasets]]
use = ["audit-design(kind='null')", "audit-design(n_samples=40)"]
"""


@pytest.fixture
def audited(tmp_path, monkeypatch):
    """Return a function that runs an audit of planted selectors."""
    monkeypatch.syspath_prepend(str(__file__).rpartition("/")[0])
    monkeypatch.setenv("PYTHONPATH", str(__file__).rpartition("/")[0])
    monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", "audit,broken_selectors")

    def run(names):
        path = tmp_path / "planted.toml"
        methods = "".join(f'[[methods]]\nlabel = "{name}"\nselector = "{name}"\n' for name in names)
        path.write_text(SUITE + methods, encoding="utf-8")
        return mfbench.run_suite(str(path), out=tmp_path / "out", jobs=1)

    return run


def test_planted_selectors(audited):
    run = audited(["always", "flat", "never"])
    from mfbench_audit.report import audit_frame, sections_of

    frame = audit_frame(run).set_index(["method", "design"])
    verdicts = frame["verdict"].to_dict()
    assert verdicts["always", "null"] == verdicts["flat", "null"] == "breaks"
    assert verdicts["never", "null"] == "holds"
    assert frame.loc[("always", "null"), "rate"] == 1.0
    assert frame.loc[("flat", "null"), "rate"] == pytest.approx(0.55, abs=0.2)
    assert np.isnan(frame.loc[("never", "null"), "power"])
    assert frame.loc[("never", "audit-design(n_samples=40)"), "power"] == 0.0
    section, *_ = sections_of(run)
    assert [row[2].text for row in section.tables[0].rows] == ["breaks", "breaks", "holds"]
    assert section.charts[0].spec().to_dict()
    assert "exceed the promise significantly" in section.charts[0].alt()


def _fold(names, relevant):
    class Round:
        columns = Columns(np.zeros(len(names), bool), names=tuple(names))

    Round.relevant = relevant
    return Round


def test_errors_by_their_definitions():
    fold = _fold(["relevant-1", "correlated-1", "null-1", "null-2", "relevant-2"], (0, 4))
    chosen = np.array([True, True, True, False, False])
    for rate, conditional, marginal in [("fdr", 2 / 3, 1 / 3), ("fwer", 1, 1), ("pfer", 2, 1), ("fpr", 2 / 3, 1 / 2)]:
        assert error_scores(chosen, fold, rate, marginal=False) == pytest.approx({rate: conditional, "power": 0.5})
        assert error_scores(chosen, fold, rate, marginal=True) == pytest.approx({rate: marginal, "power": 0.5})
    nothing = np.zeros(5, bool)
    for rate in ("fdr", "fwer", "pfer", "fpr"):
        assert error_scores(nothing, fold, rate, marginal=False) == {rate: 0.0, "power": 0.0}


@pytest.mark.parametrize("kind", DESIGNS)
def test_designs_are_what_they_say(kind):
    data = audit_design(kind, n_samples=4000, shuffle=False)
    names = np.array([name.partition("-")[0] for name in data.feature_names])
    assert set(np.flatnonzero(names == "relevant")) == set(data.relevant)
    assert len(data.relevant) == DESIGNS[kind].n_relevant
    assert np.mean(data.y) == pytest.approx(DESIGNS[kind].share, abs=0.01)
    correlation = np.corrcoef(data.X.T)
    related = np.abs(correlation[np.ix_(names == "null", list(data.relevant))])
    most = 0.15 if kind == "heavy-tails" else 0.08  # five standard errors, or more
    assert related.max(initial=0.0) < most
    with_class = [np.corrcoef(column, data.y)[0, 1] for column in data.X[:, names == "null"].T]
    assert np.abs(with_class).max() < most
    if kind in ("ar", "blocks"):
        related = np.abs(correlation[np.ix_(names == "correlated", list(data.relevant))])
        assert related.max(axis=1).min() > 0.1
    again, other = audit_design(kind, n_samples=50), audit_design(kind, n_samples=50, seed=1)
    assert np.array_equal(again.X, audit_design(kind, n_samples=50).X)
    assert not np.array_equal(again.X, other.X)


def test_irrelevant_features_of_a_block_that_goes_on_are_no_null_features():
    data = audit_design("blocks", n_features=44, n_relevant=14, shuffle=False)  # a block spans columns 20 to 24
    assert data.feature_names[20].startswith("relevant")
    assert all(name.startswith("correlated") for name in data.feature_names[22:25])
    assert data.feature_names[25] == "null-1"
    with pytest.raises(UsageError, match="'n_relevant' of dataset 'audit-design'"):
        audit_design("blocks", n_relevant=20)
    chain = audit_design("null", n_relevant=3, shuffle=False)
    assert chain.feature_names[1] == "correlated-1"


def test_pairs_are_uncorrelated_but_dependent():
    X = audit_design("covariance", n_samples=4000, shuffle=False).X
    assert abs(np.corrcoef(X[:, 0], X[:, 1])[0, 1]) < 0.1
    assert np.corrcoef(X[:, 0] ** 2, X[:, 1] ** 2)[0, 1] > 0.3


def test_mistakes():
    for change, sentence in [
        ({"kind": "nil"}, "'kind' of dataset 'audit-design' is 'nil'; use one of null,"),
        ({"n_samples": 3}, "must be a whole number at least 4, got 3"),
        ({"n_relevant": 30}, "from 0 to 25, got 30"),
        ({"seed": -1}, "'seed'"),
    ]:
        with pytest.raises(UsageError, match=sentence):
            audit_design(**change)
    for controls in (("fdp", "q"), ("fdr", "q", "conditional")):
        with pytest.raises(ValueError, match="selector 'x' controls"):
            SelectorSpec(name="x", summary="", factory="x", controls=controls)


def test_selectors_without_a_promise_are_refused(tmp_path, capsys):
    registry = load_registry()
    for method, sentence in [
        ('selector = "anova-f"', "promises no error rate that could be audited"),
        ('classifier = "random-forest"', "promises no error rate"),
        ('selector = "knockoffs"\ntop = 3', "an audit counts what the selector itself selects"),
    ]:
        path = tmp_path / "own.toml"
        path.write_text(f'{SUITE}[[methods]]\nlabel = "A"\n{method}\n', encoding="utf-8")
        with pytest.raises(MfbenchError, match=sentence):
            make_plan(load_suite(path, registry), registry)


def test_designs_by_their_kind():
    assert design_of("audit-design(kind='ar')") == "ar"
    assert design_of("audit-design(kind='ar', n_samples=20)") == "audit-design(kind='ar', n_samples=20)"


def test_no_label_of_the_suite_is_the_name_of_a_selector():
    """``mfbench audit NAME`` adds a method of that name to the suite."""
    registry = load_registry()
    labels = {method.label for method in load_suite("audit", registry).suite.methods}
    assert labels.isdisjoint(registry.listed("selector"))


def test_every_declared_promise_can_be_read():
    from mfbench_audit.trial import promise_of

    registry = load_registry()
    promises = {
        name: promise_of(name, registry.make(name, "selector"), registry)
        for name, entry in registry.listed("selector").items()
        if entry.spec.controls
    }
    assert promises["knockoffs"] == ("fdr", 0.1, False)
    assert promises["kernel-ranking"] == ("fpr", pytest.approx(0.01), True)
    assert promises["f-test-fwer"] == ("fwer", 0.05, True)
    assert len(promises) >= 10
