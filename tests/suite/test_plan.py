"""From a suite to a plan: names resolved with their place in the file, trials with keys and seeds of their own."""

import functools
import re
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from mfbench import ClassifierSpec, DatasetSpec
from mfbench.errors import PluginError, SuiteError, UsageError
from mfbench.host.expressions import parse
from mfbench.host.registry import load_registry
from mfbench.run.runner import run_folder
from mfbench.suite import plan as plan_module
from mfbench.suite.additions import with_additions
from mfbench.suite.loading import load_suite
from mfbench.suite.plan import make_plan

METHOD = '[[methods]]\nlabel = "A"\n'

MISTAKES = {
    "unknown selector": (
        'selector = "wiegh"\nclassifier = "plain"', "methods[0].selector",
        "unknown selector 'wiegh': did you mean 'weigh'"
    ),
    "unknown classifier": ('classifier = "zzz"', "methods[0].classifier", "unknown classifier 'zzz': choose from"),
    "classifier for a selector": (
        'selector = "plain"\nclassifier = "plain"', "methods[0].selector", "'plain' is a classifier, not a selector"
    ),
    "unknown parameter": (
        'classifier = "plain(shfit=1)"', "methods[0].classifier",
        "unknown parameter 'shfit' of 'plain': did you mean 'shift'"
    ),
    "no expression": ('classifier = "plain(3)"', "methods[0].classifier", "cannot read 'plain(3)'"),
    "subset without selector": ('classifier = "plain"\ntop = 3', "methods[0].top", "needs a selector"),
    "tuned subset without selector": (
        'classifier = "plain"\ntune = { top = [1] }', "methods[0].tune.top", "needs a selector"
    ),
    "selection without a grid": (
        'classifier = "plain"\nselection = "per-dataset"', "methods[0].selection", "is for tuned methods"
    ),
    "tuned nonsense": (
        'classifier = "plain"\ntune = { shfit = [1] }', "methods[0].tune.shfit",
        "no step of this method has a parameter 'shfit': did you mean 'shift'"
    ),
    "ambiguous parameter": (
        'selector = "weigh"\nclassifier = "plain"\ntune = { k = [1] }', "methods[0].tune.k",
        "both steps have a parameter 'k'; write selector.k or classifier.k"
    ),
    "dotted nonsense": (
        'selector = "weigh"\nclassifier = "plain"\ntune = { "selector.shift" = [1] }', "methods[0].tune",
        "unknown parameter 'shift' of 'weigh'"
    ),
    "dotted step that is not there": (
        'classifier = "plain"\ntune = { "selector.power" = [1] }', "methods[0].tune.selector.power", "selector.NAME"
    ),
    "dotted step that does not exist": (
        'classifier = "plain"\ntune = { "model.shift" = [1] }', "methods[0].tune.model.shift", "classifier.NAME"
    ),
}  # fmt: skip


def test_a_mistake_in_a_method_is_one_sentence_with_its_place(planned):
    for method, place, part in MISTAKES.values():
        with pytest.raises(SuiteError) as caught:
            planned(methods=METHOD + method)
        message = str(caught.value)
        assert re.search(rf"own\.toml: {re.escape(place)}: ", message)
        assert part in message
        assert "\n" not in message


def test_a_tuned_subset_has_the_values_of_a_subset(planned):
    for value in ["0", "-1", "1.5", '"most"', "true", "[1]", "0.0"]:
        method = METHOD + f'selector = "weigh"\nclassifier = "plain"\ntune = {{ top = [1, {value}] }}'
        with pytest.raises(SuiteError, match=r"own.toml: methods\[0\].tune.top: found .*, expected 'positive', 'all'"):
            planned(methods=method)


def test_a_mistake_in_the_datasets_is_one_sentence_with_its_place(planned):
    for datasets, place, part in [
        ('use = ["blobs", "blob"]', "datasets[0].use[1]", "unknown dataset 'blob': did you mean 'blobs'"),
        ('use = ["blobs(n_smaples=4)"]', "datasets[0].use[0]", "did you mean 'n_samples'"),
        ('use = ["file:gone.csv"]', "datasets[0].use[0]", "gone.csv does not exist"),
        ('use = ["blobs", "blobs"]', "datasets[0].use[1]", "'blobs' is listed twice"),
        ('use = ["blobs"]\ntarget = "y"', "datasets[0].use[0]", "'target' and 'categorical' are for 'file:'"),
        ('use = ["blobs"]\ncategorical = ["a"]', "datasets[0].use[0]", "'target' and 'categorical' are for 'file:'"),
    ]:
        with pytest.raises(SuiteError) as caught:
            planned(datasets=f"[[datasets]]\n{datasets}")
        assert f"own.toml: {place}: " in str(caught.value)
        assert part in str(caught.value)
        assert "\n" not in str(caught.value)


class TestGrid:
    def grid(self, planned, method):
        return planned(methods=METHOD + method).methods["A"].grid

    def test_default_takes_both_steps_own_grids(self, planned):
        assert self.grid(planned, 'selector = "weigh"\nclassifier = "nearest"\ntune = "default"') == (
            ("selector", "power", (1.0, 2.0)),
            ("classifier", "shift", (0.0, 0.5)),
        )

    def test_default_leaves_what_the_suite_fixes(self, planned):
        method = 'selector = "weigh(power=3)"\nclassifier = "nearest"\ntune = "default"'
        assert self.grid(planned, method) == (("classifier", "shift", (0.0, 0.5)),)
        method = 'selector = "weigh"\nclassifier = "nearest(shift=0)"\ntune = "default"'
        assert self.grid(planned, method) == (("selector", "power", (1.0, 2.0)),)

    def test_default_without_a_selector_or_without_a_grid(self, planned):
        assert self.grid(planned, 'classifier = "nearest"\ntune = "default"') == (("classifier", "shift", (0.0, 0.5)),)
        assert self.grid(planned, 'classifier = "plain"\ntune = "default"') == ()

    def test_a_name_finds_the_step_that_has_it(self, planned):
        method = 'selector = "weigh"\nclassifier = "plain"\ntune = { shift = [1, 2], power = [3], top = [1, "all"] }'
        assert self.grid(planned, method) == (
            ("classifier", "shift", (1, 2)),
            ("selector", "power", (3,)),
            ("top", "top", (1, "all")),
        )

    def test_a_dotted_name_decides(self, planned):
        method = 'selector = "weigh"\nclassifier = "plain"\ntune = { "selector.k" = [1], "classifier.k" = [2] }'
        assert self.grid(planned, method) == (("selector", "k", (1,)), ("classifier", "k", (2,)))

    def test_one_parameter_is_tuned_once(self, planned):
        with pytest.raises(SuiteError):
            planned(methods=METHOD + 'classifier = "plain"\ntune = { k = [1], "classifier.k" = [2] }')


class TestMethods:
    def test_steps_are_resolved(self, planned):
        method = planned(methods=METHOD + 'selector = "raw(power=2)"\nclassifier = "plain"\ntop = 2').methods["A"]
        assert method.selector.expression == parse("raw(power=2)")
        assert method.selector.raw_input
        assert method.top == 2
        assert method.describe() == "raw(power=2) → top 2 → plain"

    def test_without_a_selector_all_features_are_used(self, planned):
        method = planned(methods=METHOD + 'classifier = "plain"').methods["A"]
        assert (method.selector, method.top, method.grid) == (None, "all", ())

    def test_tuning_is_told(self, planned):
        method = 'selector = "weigh"\nclassifier = "plain"\ntune = { shift = [1], top = [1] }'
        assert planned(methods=METHOD + method).methods["A"].describe() == "weigh → plain [tunes shift 1; top 1]"


class TestTrials:
    def test_there_is_one_for_each_dataset_method_repeat_and_fold(self, planned):
        plan = planned(datasets='[[datasets]]\nuse = ["blobs", "other-blobs"]')
        places = [(t.dataset, t.method, t.repeat, t.fold) for t in plan.trials]
        assert len(places) == len(set(places)) == 2 * 2 * 2 * 3
        assert len({t.key for t in plan.trials}) == len(places)
        assert len({t.seed for t in plan.trials}) == len(places)
        assert places == sorted(places, key=lambda p: (["blobs", "other-blobs"].index(p[0]), p[2], p[3], p[1]))

    def test_a_plan_is_reproducible(self, planned):
        assert planned().trials == planned().trials

    def test_every_method_meets_the_same_folds(self, planned):
        """Splits know nothing of methods: with one of them gone, those of the other stay."""
        both = planned()
        one = planned(only=["B"])
        y = both.datasets["blobs"].data.y
        for repeat in range(2):
            whole, part = both.protocol.splits("blobs", y, repeat), one.protocol.splits("blobs", y, repeat)
            assert all(np.array_equal(a.test, b.test) for a, b in zip(whole, part, strict=True))

    def test_other_methods_and_datasets_change_neither_key_nor_seed(self, planned):
        whole = {t for t in planned(datasets='[[datasets]]\nuse = ["other-blobs", "blobs"]').trials if t.method == "B"}
        part = planned(methods='[[methods]]\nlabel = "B"\nclassifier = "plain"\n').trials
        assert set(part) < whole


class TestKeys:
    def keys(self, plan, method="A"):
        return {(t.repeat, t.fold): t.key for t in plan.trials if t.method == method and t.dataset.startswith("blobs")}

    CHANGES: ClassVar = {
        "parameter": {"methods": METHOD + 'selector = "weigh(power=2.0)"\nclassifier = "nearest"'},
        "classifier": {"methods": METHOD + 'selector = "weigh"\nclassifier = "plain"'},
        "no selector": {"methods": METHOD + 'classifier = "nearest"'},
        "subset": {"methods": METHOD + 'selector = "weigh"\nclassifier = "nearest"\ntop = "all"'},
        "weights": {"methods": METHOD + 'selector = "weigh"\nclassifier = "nearest"\nweights = "manhattan"'},
        "grid": {"methods": METHOD + 'selector = "weigh"\nclassifier = "nearest"\ntune = { shift = [0.0] }'},
        "content": {"datasets": '[[datasets]]\nuse = ["blobs(shift=3.0)"]'},
        "scale": {
            "head": '[suite]\nname = "own"\nseed = 7\n[protocol]\nscale = "range"\n[profiles.quick]\nrepeats = 2'
        },
        "seed": {"seed": 8},
        "folds": {"more": "[profiles.other]\nfolds = 4\nrepeats = 2", "profile": "other"},
        "sampled training rows": {"more": "[profiles.other]\nmax_rows = 10", "profile": "other"},
    }

    def test_what_changes_a_result_changes_the_key(self, planned):
        for change in self.CHANGES.values():
            before, after = self.keys(planned()), self.keys(planned(**change))
            assert not set(before.values()) & set(after.values())
            assert before.keys() & after.keys()

    def test_a_suite_that_samples_no_rows_keeps_its_keys(self, planned):
        assert "max_rows" not in planned().ingredients["blobs", "A"]["protocol"]
        sampled = planned(**self.CHANGES["sampled training rows"])
        assert sampled.ingredients["blobs", "A"]["protocol"]["max_rows"] == 10

    SAME: ClassVar = {
        "time limit": {"more": "[profiles.other]\nfolds = 3\nrepeats = 2\ntimeout = 1", "profile": "other"},
        "memory limit": {"more": "[profiles.other]\nfolds = 3\nrepeats = 2\nmemory = 1", "profile": "other"},
        "inner folds of a method that tunes nothing": {
            "more": "[profiles.other]\nfolds = 3\nrepeats = 2\ninner_folds = 9",
            "profile": "other",
        },
        "report": {"more": '[report]\nreference = "B"\nalpha = 0.1'},
        "blanks": {"methods": METHOD + 'selector = " weigh ( ) "\nclassifier = "nearest"'},
    }

    def test_what_does_not_keeps_it(self, planned):
        for change in self.SAME.values():
            before, after = self.keys(planned()), self.keys(planned(**change))
            assert before.items() <= after.items()

    def test_more_repeats_keep_the_first_ones(self, planned):
        more = planned("[profiles.other]\nfolds = 3\nrepeats = 4\ninner_folds = 2", profile="other")
        assert self.keys(planned()).items() < self.keys(more).items()

    def test_inner_folds_count_where_something_is_tuned(self, planned):
        methods = METHOD + 'classifier = "nearest"\ntune = "default"'
        other = {"more": "[profiles.other]\nfolds = 3\nrepeats = 2\ninner_folds = 9", "profile": "other"}
        assert self.keys(planned(methods=methods)) != self.keys(planned(methods=methods, **other))

    PER_DATASET: ClassVar = {"more": "[profiles.papers]\nselection = 'per-dataset'", "profile": "papers"}

    def test_who_chooses_counts_where_something_is_tuned(self, planned):
        methods = METHOD + 'classifier = "nearest"\ntune = "default"\n'
        nested, profile = (self.keys(planned(methods=methods, **how)) for how in ({}, self.PER_DATASET))
        own = self.keys(planned(methods=methods + 'selection = "per-dataset"'))
        assert own == profile
        assert not set(own.values()) & set(nested.values())
        assert self.keys(planned(methods=methods + 'selection = "nested"', **self.PER_DATASET)) == nested

    def test_who_chooses_means_nothing_where_nothing_is_tuned(self, planned):
        assert self.keys(planned()) == self.keys(planned(**self.PER_DATASET))

    def test_inner_folds_mean_nothing_where_the_dataset_chooses(self, planned):
        methods = METHOD + 'classifier = "nearest"\ntune = "default"\nselection = "per-dataset"'
        other = {"more": "[profiles.other]\ninner_folds = 9", "profile": "other"}
        assert self.keys(planned(methods=methods)) == self.keys(planned(methods=methods, **other))

    @pytest.mark.parametrize("name", ["method_code", "host_code", "numeric_versions"])
    def test_code_counts(self, planned, monkeypatch, name):
        before = self.keys(planned())
        original = getattr(plan_module, name)
        edited = lambda *args: {"x": original(*args)} if name != "host_code" else "edited"  # noqa: E731
        monkeypatch.setattr(plan_module, name, edited)
        assert not set(before.values()) & set(self.keys(planned()).values())

    def test_the_code_of_the_selector_counts_for_methods_that_have_it(self, planned, monkeypatch):
        before = planned()
        original = plan_module.method_code
        monkeypatch.setattr(
            plan_module,
            "method_code",
            lambda entry: {**original(entry), **({"selector": "edited"} if entry.spec.name == "weigh" else {})},
        )
        after = planned()
        assert self.keys(before, "A") != self.keys(after, "A")
        assert self.keys(before, "B") == self.keys(after, "B")

    def test_a_factory_may_be_a_partial(self, suite_file, make_plugin, toy_plugin):
        registry = load_registry(only=[], extra=[("toy", toy_plugin)])
        factory = functools.partial(registry.make, "nearest")
        more = make_plugin("more", classifiers=[ClassifierSpec(name="partial", summary="", factory=factory)])
        registry = load_registry(only=[], extra=[("toy", toy_plugin), ("more", more)])
        loaded = load_suite(suite_file(methods=METHOD + 'classifier = "partial"'), registry)
        assert make_plan(loaded, registry).trials


class TestPackages:
    """A name that a second package registers: keys, seeds, labels and suites that a package ships."""

    @pytest.fixture
    def together(self, make_plugin, toy_plugin, tmp_path):
        """Register names of the toy plugin a second time; one of the packages may ship the folder of suites."""
        toy = load_registry(only=[], extra=[("toy", toy_plugin)])
        rival = {
            "selectors": [replace(toy.entry("selector", "weigh").spec, defaults={"power": 3.0})],
            "classifiers": [toy.entry("classifier", "plain").spec],
            "datasets": [toy.entry("dataset", "blobs").spec],
        }
        own = {name.removeprefix("mfbench_"): hook for name, hook in vars(toy_plugin).items() if "mfbench" in name}

        def load(home):
            modules = [
                (name, make_plugin(f"{name}_plugin", **hooks, **({"suites": [tmp_path]} if name == home else {})))
                for name, hooks in (("toy", own), ("rival", rival))
            ]
            return load_registry(only=[], extra=modules)

        return load

    METHODS = METHOD + 'selector = "weigh{at}"\nclassifier = "plain{at}(k=2)"'

    def plan(self, suite_file, registry, at="", label=""):
        text = '[[datasets]]\nuse = ["blobs{at}"]'
        file = suite_file(datasets=text.format(at=label), methods=self.METHODS.format(at=at))
        return make_plan(load_suite(file, registry), registry)

    def test_the_choice_appears_as_written_and_the_key_is_that_of_the_name_alone(
        self, suite_file, toy_registry, together, monkeypatch
    ):
        monkeypatch.setattr(plan_module, "content_hash", lambda data: "same")
        alone = self.plan(suite_file, toy_registry)
        qualified = self.plan(suite_file, toy_registry, "@toy")
        assert qualified.methods["A"].describe() == "weigh@toy → top positive → plain@toy(k=2)"
        assert [trial.key for trial in qualified.trials] == [trial.key for trial in alone.trials]
        both = self.plan(suite_file, together("toy"), "@toy")
        assert [trial.key for trial in both.trials] == [trial.key for trial in alone.trials]
        rival = self.plan(suite_file, together("toy"), "@rival")
        assert not {trial.key for trial in rival.trials} & {trial.key for trial in alone.trials}
        assert list(self.plan(suite_file, together("toy"), "@toy", "@rival").datasets) == ["blobs@rival"]

    def test_what_a_package_ships_means_its_own_names(self, suite_file, toy_registry, together):
        shipped = self.plan(suite_file, together("toy"))
        assert shipped.methods["A"].selector.expression.name == "weigh@toy"
        assert shipped.methods["A"].describe() == "weigh → top positive → plain(k=2)"
        assert list(shipped.datasets) == ["blobs"]
        assert [t.key for t in shipped.trials] == [t.key for t in self.plan(suite_file, toy_registry).trials]
        other = self.plan(suite_file, together("rival"))
        assert other.methods["A"].selector.expression.name == "weigh@rival"

    def test_a_users_suite_must_choose_and_the_rest_of_the_names_work(self, suite_file, together):
        with pytest.raises(
            SuiteError, match=r"selector: 2 packages register .* 'weigh@rival' or 'weigh@toy'"
        ) as raised:
            self.plan(suite_file, together(""))
        assert len(str(raised.value).splitlines()) == 1
        with pytest.raises(SuiteError, match=r"datasets\[0\].use\[0\]: 2 packages register the dataset 'blobs'"):
            self.plan(suite_file, together(""), "@toy")
        with pytest.raises(SuiteError, match="'blobs' is listed twice, also as 'blobs@rival'"):
            registry = together("rival")
            file = suite_file(
                datasets='[[datasets]]\nuse = ["blobs@toy", "blobs@rival", "blobs"]',
                methods=METHOD + 'classifier = "nearest"',
            )
            make_plan(load_suite(file, registry), registry)


class TestPart:
    DATASETS = '[[datasets]]\nuse = ["blobs", "other-blobs", "blobs(n_samples=30)"]'
    PARTS = """
[parts.few]
only = ["blobs*", "A"]
[parts.typo]
only = ["A", "blob"]
"""

    def plan(self, suite_file, registry, part, only=()):
        loaded = load_suite(suite_file(self.PARTS, datasets=self.DATASETS), registry, part=part)
        return make_plan(loaded, registry, only)

    def test_a_part_and_the_same_patterns_are_one_run(self, suite_file, toy_registry, tmp_path):
        part = self.plan(suite_file, toy_registry, "few")
        same = self.plan(suite_file, toy_registry, None, ["A", "blobs*"])
        assert [t.key for t in part.trials] == [t.key for t in same.trials]
        assert list(part.datasets) == ["blobs", "blobs(n_samples=30)"]
        assert run_folder(tmp_path, part.loaded) == run_folder(tmp_path, same.loaded, ["A", "blobs*"])
        assert run_folder(tmp_path, part.loaded) != run_folder(tmp_path, same.loaded)

    def test_only_restricts_the_part(self, suite_file, toy_registry, tmp_path):
        plan = self.plan(suite_file, toy_registry, "few", ["blobs"])
        assert (list(plan.datasets), list(plan.methods)) == (["blobs"], ["A"])
        folders = {run_folder(tmp_path, plan.loaded), run_folder(tmp_path, plan.loaded, ["blobs"])}
        assert len(folders) == 2
        with pytest.raises(UsageError, match="--only 'B' matches no dataset and no method of the part 'few'"):
            self.plan(suite_file, toy_registry, "few", ["B"])

    def test_a_pattern_of_the_part_that_matches_nothing_is_refused(self, suite_file, toy_registry):
        words = r"own.toml: parts.typo.only: 'blob' matches no dataset and no method of the profile 'full'.*'blobs'"
        with pytest.raises(UsageError, match=words):
            self.plan(suite_file, toy_registry, "typo")

    def test_an_unknown_part_is_answered_with_the_nearest(self, suite_file, toy_registry):
        with pytest.raises(UsageError, match="unknown part 'fwe': did you mean 'few'"):
            self.plan(suite_file, toy_registry, "fwe")
        with pytest.raises(UsageError, match="the suite 'own' has no parts; use --only GLOB"):
            load_suite(suite_file(), toy_registry, part="few")

    def test_the_part_is_in_the_request(self, suite_file, toy_registry):
        loaded = load_suite(suite_file(self.PARTS), toy_registry, seed=3, part="few")
        assert loaded.request[1:] == ("--profile", "full", "--part", "few", "--seed", "3")

    def test_what_is_added_is_not_restricted(self, suite_file, toy_registry):
        loaded = load_suite(suite_file(self.PARTS, datasets=self.DATASETS), toy_registry, part="few")
        plan = make_plan(with_additions(loaded, toy_registry, ["MINE = plain"]), toy_registry)
        assert list(plan.methods) == ["A", "MINE"]


class TestOnly:
    DATASETS = '[[datasets]]\nuse = ["blobs", "other-blobs", "blobs(n_samples=30)"]'

    def test_patterns_restrict_the_kind_that_they_match(self, planned):
        for only, datasets, methods in [
            ([], ["blobs", "other-blobs", "blobs(n_samples=30)"], ["A", "B"]),
            (["B"], ["blobs", "other-blobs", "blobs(n_samples=30)"], ["B"]),
            (["blobs"], ["blobs"], ["A", "B"]),
            (["blobs*", "A"], ["blobs", "blobs(n_samples=30)"], ["A"]),
            (["*"], ["blobs", "other-blobs", "blobs(n_samples=30)"], ["A", "B"]),
            (["other-*", "blobs"], ["blobs", "other-blobs"], ["A", "B"]),
        ]:
            plan = planned(datasets=self.DATASETS, only=only)
            assert list(plan.datasets) == datasets
            assert list(plan.methods) == methods
            assert {(t.dataset, t.method) for t in plan.trials} == {(d, m) for d in datasets for m in methods}

    @pytest.mark.parametrize("only", [["zzz"], ["A", "zzz"], ["a"]])
    def test_a_pattern_that_matches_nothing_is_refused(self, planned, only):
        with pytest.raises(UsageError, match="matches no dataset and no method"):
            planned(only=only)

    @pytest.mark.parametrize(
        ("only", "near"), [("blob", "did you mean 'blobs'"), ("BLOBS", "'blobs'"), ("zzz*", "suite$")]
    )
    def test_a_name_that_is_nearly_one_is_answered_with_it(self, planned, only, near):
        with pytest.raises(UsageError, match=near):
            planned(only=[only])

    def test_a_method_that_is_left_out_counts_only_where_it_is_asked_for(self, suite_file, make_plugin, toy_plugin):
        gone = make_plugin("gone", classifiers=[ClassifierSpec(name="gone", summary="", factory="no_such_module:C")])
        registry = load_registry(only=[], extra=[("toy", toy_plugin), ("gone", gone)])
        methods = METHOD + 'classifier = "plain"\n[[methods]]\nlabel = "GONE"\nclassifier = "gone"'
        loaded = load_suite(suite_file(methods=methods), registry)
        assert list(make_plan(loaded, registry).left_out) == ["GONE"]
        assert make_plan(loaded, registry, ["A"]).left_out == {}
        alone = make_plan(loaded, registry, ["GONE"])
        assert (list(alone.left_out), alone.trials) == (["GONE"], [])

    def test_a_method_whose_package_is_missing_is_left_out_before_anything_runs(
        self, suite_file, make_plugin, toy_plugin
    ):
        far = ClassifierSpec(name="far", summary="", factory="sklearn.dummy:DummyClassifier", requires=("no_such",))
        registry = load_registry(only=[], extra=[("toy", toy_plugin), ("far", make_plugin("far", classifiers=[far]))])
        methods = METHOD + 'classifier = "plain"\n[[methods]]\nlabel = "FAR"\nclassifier = "far"'
        plan = make_plan(load_suite(suite_file(methods=methods), registry), registry)
        assert plan.left_out == {"FAR": "'far' needs the package no_such: pip install no_such"}
        assert {trial.method for trial in plan.trials} == {"A"}

    def test_what_is_not_asked_for_is_not_loaded(self, planned):
        plan = planned(datasets='[[datasets]]\nuse = ["blobs", "broken"]', only=["blobs"])
        assert plan.left_out == {}

    def test_mistakes_are_found_in_what_is_not_asked_for_too(self, planned):
        with pytest.raises(SuiteError):
            planned(datasets='[[datasets]]\nuse = ["blobs", "gone"]', only=["blobs"])


class TestDatasets:
    def test_one_that_cannot_be_loaded_is_left_out_with_the_reason_and_the_rest_goes_on(self, planned):
        plan = planned(datasets='[[datasets]]\nuse = ["broken", "blobs"]')
        assert list(plan.datasets) == ["blobs"]
        assert plan.failures == ["broken"]
        assert "OSError: the disk is gone" in plan.left_out["broken"]
        assert {t.dataset for t in plan.trials} == {"blobs"}

    def test_one_whose_loader_cannot_be_imported_is_left_out_too(self, suite_file, make_plugin, toy_plugin):
        gone = make_plugin("gone", datasets=[DatasetSpec(name="gone", summary="", loader="no_such_module:f")])
        extra = [("toy", toy_plugin), ("gone", gone)]
        file = suite_file(datasets='[[datasets]]\nuse = ["gone", "blobs"]')
        registry = load_registry(only=[], extra=extra)
        plan = make_plan(load_suite(file, registry), registry, ["gone"])
        assert "'gone' of gone cannot be imported" in plan.left_out["gone"]
        strict = load_registry(only=[], extra=extra, strict=True)
        with pytest.raises(PluginError, match="cannot be imported"):
            make_plan(load_suite(file, strict), strict, ["gone"])

    def test_one_that_is_too_small_for_the_folds_is_left_out(self, planned):
        plan = planned(datasets='[[datasets]]\nuse = ["blobs(n_samples=4)", "blobs"]')
        assert "3 folds need a class of at least 3 rows" in plan.left_out["blobs(n_samples=4)"]

    def test_a_file_is_looked_for_beside_the_suite(self, planned, tmp_path):
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "own.csv").write_text("a,kind\n" + "".join(f"{i},{'xy'[i % 2]}\n" for i in range(12)))
        plan = planned(datasets='[[datasets]]\nuse = ["file:data/own.csv"]\ntarget = "kind"')
        (found,) = plan.datasets.values()
        assert (found.data.n_samples, found.data.class_names) == (12, ("x", "y"))

    def test_files_of_one_name_in_two_folders_are_two_datasets(self, planned, tmp_path):
        for folder in "ab":
            (tmp_path / folder).mkdir()
            (tmp_path / folder / "own.csv").write_text("a,kind\n" + "".join(f"{i},{'xy'[i % 2]}\n" for i in range(12)))
        assert len(planned(datasets='[[datasets]]\nuse = ["file:a/own.csv", "file:b/own.csv"]').datasets) == 2

    def test_a_wrong_target_names_the_key(self, planned, tmp_path):
        (tmp_path / "own.csv").write_text("a,kind\n" + "".join(f"{i},{'xy'[i % 2]}\n" for i in range(12)))
        with pytest.raises(SuiteError, match=r"own.toml: datasets\[0\]"):
            planned(datasets='[[datasets]]\nuse = ["file:own.csv"]\ntarget = "knid"')

    def test_restricted_classes_reach_the_plan(self, make_plugin, toy_plugin, suite_file):
        from dataclasses import replace

        from mfbench import DatasetSpec

        def three():
            y = np.repeat([0, 1, 2], [12, 3, 12])
            whole = load_registry(only=[], extra=[("toy", toy_plugin)]).entry("dataset", "blobs").spec.loader(27)
            return replace(whole, y=y.astype(np.int64), class_names=("a", "b", "c"))

        more = make_plugin("more", datasets=[DatasetSpec(name="three", summary="", loader=three)])
        registry = load_registry(only=[], extra=[("toy", toy_plugin), ("more", more)])
        head = '[suite]\nname = "own"\n[protocol]\nclasses = "two-largest"\n'
        loaded = load_suite(suite_file(head=head, datasets='[[datasets]]\nuse = ["three"]'), registry)
        planned = make_plan(loaded, registry).datasets["three"]
        assert (planned.data.class_names, np.bincount(planned.data.y).tolist()) == (("a", "c"), [12, 12])
        assert planned.dropped == {"b": 3}


@pytest.mark.parametrize("decisions", ["multi-class", "one-vs-rest"])
def test_methods_for_two_classes_have_no_trials_on_data_with_more(make_plugin, suite_file, decisions):
    """Unless each class is a problem of its own."""

    class ForTwo(DummyClassifier):
        def __sklearn_tags__(self):
            tags = super().__sklearn_tags__()
            tags.classifier_tags.multi_class = False
            return tags

    factories = {"two": ForTwo, "any": DummyClassifier}
    specs = [ClassifierSpec(name=name, summary="", factory=factory) for name, factory in factories.items()]
    registry = load_registry(only=["datasets"], extra=[("p", make_plugin("p", classifiers=specs))])
    methods = "".join(f'[[methods]]\nlabel = "{name}"\nclassifier = "{name}"\n' for name in ("two", "any"))
    head = f'[suite]\nname = "own"\n[protocol]\nkind = "nested-cv"\ndecisions = "{decisions}"\n'
    datasets = '[[datasets]]\nuse = ["iris", "wdbc"]'
    plan = make_plan(load_suite(suite_file(head=head, datasets=datasets, methods=methods), registry), registry)
    left_out = {"two": ["iris"]} if decisions == "multi-class" else {}
    assert plan.unsuited == left_out
    cells = {(trial.dataset, trial.method) for trial in plan.trials}
    every = {(dataset, method) for dataset in ("iris", "wdbc") for method in ("two", "any")}
    assert cells == every - {(dataset, "two") for dataset in left_out.get("two", ())}


def test_a_run_is_found_after_suites_have_got_new_keys(suite_file, toy_registry, tmp_path):
    """Keys that a suite does not set do not count in the name of its folder, or earlier runs would not be found."""
    loaded = load_suite(suite_file(), toy_registry)
    assert run_folder(tmp_path, loaded) == tmp_path / "own" / "full-226145c1"
