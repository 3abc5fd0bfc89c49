"""What tuning tries: lists, ranges of numbers, parameters that are tuned together; and what a protocol refuses."""

import numpy as np
import pytest

from mfbench.errors import SuiteError
from mfbench.suite.loading import parse_suite
from mfbench.suite.methods import thinned
from mfbench.suite.schema import Range

HEAD = '[suite]\nname = "own"\n[protocol]\nkind = "{kind}"\n'


def weigh(tune, more=""):
    return f'[[methods]]\nlabel = "A"\nselector = "weigh"\nclassifier = "nearest"\ntune = {tune}\n{more}'


class TestRanges:
    @pytest.mark.parametrize("count", [2, 7, 100])
    def test_linear_and_log_spacing_are_numpys(self, count):
        assert Range(first=1.0, last=0.01, count=count).values() == pytest.approx(np.linspace(1.0, 0.01, count))
        found = Range(first=0.001, last=1.0, count=count, spacing="log").values()
        assert found == pytest.approx(np.geomspace(0.001, 1.0, count), rel=1e-11)
        assert (found[0], found[-1]) == (0.001, 1.0)

    def test_hundredths_are_as_written(self):
        assert Range(first=1.0, last=0.01, count=100).values() == [round(1 - i / 100, 2) for i in range(100)]

    def test_whole_numbers_stay_whole(self):
        assert [type(value) for value in Range(first=9, last=1, count=5).values()] == [int] * 5
        assert Range(first=9, last=1, count=5).values() == [9, 7, 5, 3, 1]
        assert Range(first=1, last=2, count=3).values() == [1.0, 1.5, 2.0]

    def test_a_range_is_what_the_grid_has(self, planned):
        plan = planned(methods=weigh("{ top = { first = 1.0, last = 0.5, count = 2 }, power = [1, 2] }"))
        assert plan.methods["A"].grid == (("top", "top", (1.0, 0.5)), ("selector", "power", (1, 2)))

    MISTAKES = {  # noqa: RUF012
        "{ first = 1, last = 2, count = 1 }": "methods[1].tune.k.count: found 1",
        "{ first = 0, last = 2, count = 3, spacing = 'log' }": "ends above 0",
        "{ first = 1, last = 2, count = 3, step = 2 }": "methods[1].tune.k.step: unknown key: choose from count",
        "3": "methods[1].tune.k: found 3 (a whole number), expected a list or a table",
    }

    def test_a_mistake_names_the_key(self):
        for value, message in self.MISTAKES.items():
            text = '[suite]\nname = "x"\n[[datasets]]\nuse = ["iris"]\n[[methods]]\nlabel = "B"\nclassifier = "knn"\n'
            with pytest.raises(SuiteError) as caught:
                parse_suite(text + weigh(f"{{ k = {value} }}"), "own.toml")
            assert message in str(caught.value)
            assert "\n" not in str(caught.value)

    def test_a_range_of_no_subsets_is_refused(self, planned):
        with pytest.raises(SuiteError, match=r"methods\[0\].tune.top: found 0.0"):
            planned(methods=weigh("{ top = { first = 1.0, last = 0.0, count = 3 } }"))


class TestTogether:
    def test_parameters_of_one_step_may_be_tuned_together(self, planned):
        plan = planned(methods=weigh('{ "power, selector.k" = [[1, 2], [3, 4]] }'))
        assert plan.methods["A"].grid == (("selector", "power,k", ((1, 2), (3, 4))),)

    MISTAKES = {  # noqa: RUF012
        '{ "power,shift" = [[1, 2]] }': "must belong to one step",
        '{ "power,selector.k" = [[1, 2, 3]] }': "found [1, 2, 3], expected a list of 2 values",
        '{ "power,selector.k" = [1, 2] }': "found 1, expected a list of 2 values",
        '{ "power,selector.k" = [[1, 2]], power = [1] }': "selector.power is tuned twice",
        '{ "power,nothing" = [[1, 2]] }': "no step of this method has a parameter 'nothing'",
    }

    def test_a_mistake_is_told(self, planned):
        for tune, message in self.MISTAKES.items():
            with pytest.raises(SuiteError) as caught:
                planned(methods=weigh(tune))
            assert message in str(caught.value)


class TestKeysThatAProtocolRejects:
    def test_timing_tunes_nothing(self, planned):
        with pytest.raises(SuiteError, match=r"methods\[0\].tune: the protocol 'timing' does not tune"):
            planned(head=HEAD.format(kind="timing"), methods=weigh('"default"'))

    @pytest.mark.parametrize("kind", ["nested-cv", "three-way"])
    def test_selection_is_not_a_key_of_a_protocol_with_validation_rows(self, planned, kind):
        with pytest.raises(SuiteError, match=rf"methods\[0\].selection: the protocol '{kind}'"):
            planned(head=HEAD.format(kind=kind), methods=weigh('"default"', 'selection = "per-dataset"'))
        with pytest.raises(SuiteError, match=rf"protocol.selection: the protocol '{kind}' has no such key"):
            planned(head=HEAD.format(kind=kind) + 'selection = "nested"\n', methods=weigh('"default"'))

    def test_a_key_of_another_kind_in_a_profile(self, planned):
        with pytest.raises(SuiteError, match=r"profiles.own.folds: the protocol 'three-way' has no such key"):
            planned("[profiles.own]\nfolds = 3", head=HEAD.format(kind="three-way"))

    def test_a_dataset_too_small_is_left_out_with_the_reason(self, planned, tmp_path):
        (tmp_path / "tiny.csv").write_text("a,b\n1,x\n2,y\n")
        for kind in ("three-way", "nested-cv", "timing"):
            plan = planned(head=HEAD.format(kind=kind), datasets='[[datasets]]\nuse = ["file:tiny.csv"]')
            assert "row" in plan.left_out["tiny.csv"], kind


class TestKeys:
    """What of a protocol is part of a trial's key."""

    def keys(self, planned, kind, more="", tune=True):
        methods = weigh('"default"') if tune else '[[methods]]\nlabel = "A"\nclassifier = "plain"\n'
        plan = planned(head=HEAD.format(kind=kind) + more, methods=methods)
        return {(t.repeat, t.fold): t.key for t in plan.trials}

    def test_what_splits_or_decides_counts(self, planned):
        for tune in [True, False]:
            for kind, more in [
                ("nested-cv", "refit = false"),
                ("nested-cv", "stratified = false"),
                ("nested-cv", "validation_share = 0.3"),
                ("nested-cv", 'decisions = "one-vs-rest"'),
                ("three-way", "refit = true"),
                ("three-way", "stratified = false"),
                ("holdout", "test_share = 0.5"),
                ("holdout", "stratified = false"),
            ]:
                assert not set(self.keys(planned, kind, tune=tune).values()) & set(
                    self.keys(planned, kind, more, tune=tune).values()
                )

    @pytest.mark.parametrize("kind", ["nested-cv", "three-way", "holdout"])
    def test_more_repeats_keep_the_first_ones(self, planned, kind):
        few, many = (self.keys(planned, kind, f"repeats = {n}") for n in (2, 4))
        assert few.items() < many.items()

    def test_inner_folds_count_where_something_is_tuned(self, planned):
        for tune in (True, False):
            one, other = (self.keys(planned, "holdout", f"inner_folds = {n}", tune) for n in (3, 4))
            assert (one == other) is not tune

    def test_the_form_itself_does_not(self, planned):
        named = 'stratified = true\nrefit = true\ndecisions = "multi-class"'
        assert self.keys(planned, "nested-cv") == self.keys(planned, "nested-cv", f'form = "published"\n{named}')


def test_thinned_keeps_order_ends_and_number():
    for count in range(1, 12):
        values = tuple(range(10))
        found = thinned(values, count)
        assert len(found) == min(count, 10)
        assert list(found) == sorted(set(found))
        assert found[0] == 0
        assert count == 1 or found[-1] == 9
