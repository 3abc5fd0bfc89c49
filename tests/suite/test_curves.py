"""The sizes of a curve, what a suite may say about them, and what they leave as it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfbench.errors import SuiteError
from mfbench.suite.loading import load_suite
from mfbench.suite.methods import count_of, curve_sizes, describe_curve
from mfbench.suite.plan import make_plan
from mfbench.suite.resolve import resolve_methods
from mfbench.suite.schema import SizeRange

SIZES = st.lists(
    st.one_of(st.just("all"), st.integers(1, 300), st.floats(0.001, 1.0)), min_size=1, max_size=8, unique_by=repr
)
ENDS = st.one_of(st.just("all"), st.integers(1, 300), st.floats(0.001, 1.0))
RANGES = st.builds(
    SizeRange, first=ENDS, last=ENDS, count=st.integers(2, 20), spacing=st.sampled_from(["linear", "log"])
)


@given(st.one_of(SIZES, RANGES), st.integers(1, 200))
def test_sizes_ascend_and_are_numbers_of_features(curve, n_features):
    sizes = curve_sizes(curve, n_features)
    assert list(sizes) == sorted(set(sizes))
    assert sizes[0] >= 1 and sizes[-1] <= n_features


@given(SIZES, st.integers(1, 200))
def test_each_entry_of_a_list_is_a_size_as_far_as_there_are_features(curve, n_features):
    assert set(curve_sizes(curve, n_features)) == {
        min(max(1, count_of(size, n_features)), n_features) for size in curve
    }


@given(RANGES, st.integers(1, 200))
def test_a_range_has_its_ends_and_at_most_its_number_of_sizes(curve, n_features):
    ends = {min(count_of(end, n_features), n_features) for end in (curve.first, curve.last)}
    sizes = curve_sizes(curve, n_features)
    assert ends == {sizes[0], sizes[-1]} and len(sizes) <= curve.count


def test_a_range_has_equal_ratios_or_equal_differences():
    assert curve_sizes(SizeRange(count=4), 1000) == (1, 10, 100, 1000)
    assert curve_sizes(SizeRange(first=0.5, last=2, count=4, spacing="linear"), 16) == (2, 4, 6, 8)
    assert curve_sizes(SizeRange(count=200), 5) == (1, 2, 3, 4, 5)


def test_a_description_names_few_sizes_and_counts_many():
    assert describe_curve([1, 0.5, "all"]) == "curve 1, 0.5, all"
    assert describe_curve(list(range(1, 20))) == "curve 1 … 19 (19 sizes)"
    assert describe_curve(SizeRange(first=2, last=9, count=3, spacing="linear")) == "curve 2 … 9 (3 sizes, linear)"


METHOD = '[[methods]]\nlabel = "A"\nselector = "weigh"\nclassifier = "nearest"\n'
ALONE = '[[methods]]\nlabel = "B"\nclassifier = "plain"\n'
SIZE = "'all', a whole number from 1, or a fraction such as 0.5 up to 1.0"


def test_a_mistake_is_one_sentence_that_names_the_key(suite_file, toy_registry):
    for curve, expected in [
        ("[]", "found an empty list, expected at least one item"),
        ("[0]", f"found 0 (a whole number), expected {SIZE}"),
        ("[-3]", f"found -3 (a whole number), expected {SIZE}"),
        ("[1.5]", f"found 1.5 (a number), expected {SIZE}"),
        ("[0.0]", f"found 0.0 (a number), expected {SIZE}"),
        ("[nan]", f"found nan (a number), expected {SIZE}"),
        ("[inf]", f"found inf (a number), expected {SIZE}"),
        ('["al"]', f"found 'al' (a string), expected {SIZE}"),
        ("[true]", f"found True (true/false), expected {SIZE}"),
        ("[99999999999999999999]", f"found 99999999999999999999 (a whole number), expected {SIZE}"),
        ("[1, 2, 1]", "expected sizes that differ (1 is listed twice)"),
        ('"all"', "found 'all' (a string), expected a list or a table"),
        ("5", "found 5 (a whole number), expected a list or a table"),
        ("{ count = 1 }", "greater than or equal to 2"),
        ("{ count = 201 }", "less than or equal to 200"),
        ("{ first = 0, count = 3 }", f"curve.first: found 0 (a whole number), expected {SIZE}"),
        ("{ from = 1, count = 3 }", "curve.from: unknown key"),
        (str([*range(1, 202)]), "expected at most 200 entries"),
    ]:
        for where in ["method", "protocol"]:
            head = (
                f'[suite]\nname = "own"\n[protocol]\nfolds = 3\n{f"curve = {curve}" if where == "protocol" else ""}\n'
            )
            more = f"curve = {curve}" if where == "method" else ""
            with pytest.raises(SuiteError) as error:
                load_suite(suite_file(more, head=head, methods=METHOD), toy_registry)
            place = "protocol.curve" if where == "protocol" else "methods[0].curve"
            assert f"own.toml: {place}" in str(error.value) and expected in str(error.value)
            assert "\n" not in str(error.value)


def head_of(protocol):
    return f'[suite]\nname = "own"\n[protocol]\n{protocol}\n'


def test_what_contradicts_a_curve_is_one_sentence(suite_file, toy_registry):
    for methods, protocol, expected in [
        (f"{ALONE}curve = [1]", "", "methods[0].curve: 'curve' needs a selector"),
        (f"{METHOD}curve = [1]\ntop = 2", "", "methods[0].top: 'top' and 'curve' both set how many features"),
        (f"{METHOD}curve = [1]\ntune = {{ top = [1, 2] }}", "", "methods[0].tune.top: 'top' and 'curve' both set"),
        (f'{METHOD}curve = [1]\ntune = "default"\nselection = "per-dataset"', "", "set selection = 'nested'"),
        (f'{METHOD}curve = [1]\ntune = "default"', 'form = "published"', "set selection = 'nested'"),
        (
            f"{METHOD}curve = [1]",
            'kind = "nested-cv"\ndecisions = "one-vs-rest"',
            "each class has a ranking of its own",
        ),
        (METHOD, 'kind = "nested-cv"\ndecisions = "one-vs-rest"\ncurve = [1]', "each class has a ranking of its own"),
        (f"{METHOD}curve = [1]", 'kind = "timing"', "the protocol 'timing' has no curves; leave it out"),
        (METHOD, 'kind = "timing"\ncurve = [1]', "protocol.curve: the protocol 'timing' has no such key"),
        (METHOD, 'kind = "timing"\nmetrics = ["accuracy", "area"]', "'timing' does not measure 'area'"),
        (METHOD, 'metrics = ["area", "accuracy"]', "the metric 'area' needs a curve of every method"),
        (f"{METHOD}curve = [1]\n{ALONE}", 'metrics = ["accuracy", "area_linear"]', "methods[1].curve: the metric"),
        (f"{METHOD}curve = [1]", 'metrics = ["area"]', "'area' is the area under another score; list that one as well"),
        (f"{METHOD}curve = [1]", 'metrics = ["area", "log_loss"]', "'area' would be the area under 'log_loss'"),
        (
            f"{METHOD}curve = [1]",
            'metrics = ["area", "accuracy"]\n[profiles.full]\nfolds = 2\ncurv = [1]',
            "did you mean",
        ),
    ]:
        with pytest.raises(SuiteError) as error:
            loaded = load_suite(suite_file(head=head_of(protocol), methods=methods), toy_registry)
            resolve_methods(loaded, toy_registry)
        assert expected in str(error.value) and "\n" not in str(error.value)


def test_the_curve_of_the_protocol_is_that_of_methods_that_set_nothing_else(suite_file, toy_registry):
    methods = "".join(
        f'[[methods]]\nlabel = "{label}"\nselector = "weigh"\nclassifier = "nearest"\n{rule}\n'
        for label, rule in {"A": "", "B": "curve = [2]", "C": "top = 2", "D": "tune = { top = [1, 2] }"}.items()
    )
    alone = '[[methods]]\nlabel = "E"\nclassifier = "plain"\n'
    path = suite_file(head=head_of("curve = [1, 3]\n[profiles.quick]\ncurve = { count = 3 }"), methods=methods + alone)
    for profile, default in {"full": [1, 3], "quick": SizeRange(count=3)}.items():
        resolved = resolve_methods(load_suite(path, toy_registry, profile), toy_registry)[0]
        assert {label: method.curve for label, method in resolved.items()} == {
            "A": default,
            "B": [2],
            "C": None,
            "D": None,
            "E": None,
        }
        assert (resolved["A"].top, resolved["C"].top) == ("all", 2)


def keys_of(path, registry):
    plan = make_plan(load_suite(path, registry), registry)
    return {(trial.method, trial.fold): trial.key for trial in plan.trials}, plan


def test_a_curve_changes_the_keys_of_its_own_method_alone(suite_file, toy_registry):
    both = METHOD + ALONE
    plain, plan = keys_of(suite_file(methods=both), toy_registry)
    assert all("curve" not in str(ingredients) for ingredients in plan.ingredients.values())
    curved, plan = keys_of(suite_file(methods=f"{METHOD}curve = [1, 2]\n{ALONE}"), toy_registry)
    assert plan.ingredients["blobs", "A"]["curve"] == (1, 2)
    assert {method for (method, fold), key in plain.items() if curved[method, fold] != key} == {"A"}


def test_the_key_has_the_sizes_and_not_how_they_are_written(suite_file, toy_registry):
    # The dataset has three features.
    written = ["curve = [1, 2, 3]", 'curve = [3, 1, 2, "all", 17]', "curve = { count = 3 }"]
    keys = [keys_of(suite_file(methods=METHOD + curve), toy_registry)[0] for curve in written]
    assert keys[0] == keys[1] == keys[2]
    default = keys_of(suite_file(head=head_of("folds = 3\ncurve = [1, 2, 3]"), methods=METHOD), toy_registry)[1]
    assert default.ingredients["blobs", "A"]["curve"] == (1, 2, 3)
    assert "curve" not in default.ingredients["blobs", "A"]["protocol"]
