"""The registry: what plugins say is found by name, and a bad plugin harms nobody but itself."""

import sys
import types
from functools import partial

import pytest

from mfbench import ClassifierSpec, DatasetSpec, SelectorSpec, hookimpl
from mfbench.errors import PluginError, UnknownNameError, UsageError
from mfbench.host.expressions import Plugin
from mfbench.host.registry import PluginWarning, load_registry


class Thing:
    def __init__(self, size=1, *, shade="red"):
        self.size, self.shade = size, shade


def selector(name, **more):
    return SelectorSpec(name=name, summary="", **{"factory": Thing, **more})


def load(*plugins, **options):
    return load_registry(only=[], extra=[(module.__name__, module) for module in plugins], **options)


class TestNames:
    def test_an_expression_becomes_an_estimator_with_its_parameters(self, make_plugin):
        found = load(make_plugin("p", selectors=[selector("relieff")])).make("relieff(size=10)")
        assert (type(found), found.size, found.shade) == (Thing, 10, "red")

    def test_defaults_of_the_spec_go_under_the_expression_and_overrides_over_it(self, make_plugin):
        one = load(make_plugin("p", selectors=[selector("a", defaults={"size": 5, "shade": "blue"})]))
        assert (one.make("a").size, one.make("a").shade) == (5, "blue")
        assert one.make("a(size=6)").size == 6
        assert one.make("a(size=6)", size=7).size == 7

    def test_a_name_that_is_both_needs_its_kind(self, make_plugin):
        class Other(Thing):
            pass

        both = load(
            make_plugin(
                "p", selectors=[selector("both")], classifiers=[ClassifierSpec(name="both", summary="", factory=Other)]
            )
        )
        with pytest.raises(
            UsageError, match="'both' is both a selector and a classifier: add kind='selector' or kind="
        ):
            both.make("both")
        with pytest.raises(UsageError, match="kind is 'learner': use 'selector'"):
            both.make("both", "learner")
        assert type(both.make("both", "selector")) is Thing
        assert type(both.make("both", "classifier")) is Other

    def test_a_name_that_is_both_is_built_if_the_class_is_the_same(self, make_plugin):
        def both(**changed):
            classifier = ClassifierSpec(name="both", summary="", **{"factory": Thing, **changed})
            return load(make_plugin("p", selectors=[selector("both")], classifiers=[classifier]))

        assert both().make("both(size=3)").size == 3
        with pytest.raises(UsageError, match="is both a selector and a classifier"):
            both(defaults={"size": 5}).make("both")

    def test_a_typo_is_answered_with_the_near_names(self, make_plugin):
        one = load(make_plugin("p", selectors=[selector("relieff"), selector("variance")]))
        with pytest.raises(UnknownNameError, match=r"unknown selector 'relief-f': did you mean 'relieff'\?"):
            one.entry("selector", "relief-f")
        with pytest.raises(
            UnknownNameError, match=r"selector, classifier or regressor 'relief-f': did you mean 'relieff'"
        ):
            one.make("relief-f")
        with pytest.raises(UnknownNameError, match="unknown classifier 'x': there are none"):
            one.entry("classifier", "x")

    def test_case_hyphens_and_underscores_are_no_obstacle(self, subtests, make_plugin):
        for typo in ["relief_f", "Relief-F", "RELIEFF"]:
            with subtests.test(typo=typo):
                one = load(make_plugin("p", selectors=[selector("relieff"), selector("relief")]))
                with pytest.raises(UnknownNameError, match=r"did you mean 'relieff'\?"):
                    one.make(typo)

    def test_a_name_of_the_other_kind_is_told_as_such(self, make_plugin):
        one = load(make_plugin("p", selectors=[selector("weigh")]))
        with pytest.raises(UsageError, match="'weigh' is a selector, not a classifier"):
            one.entry("classifier", "weigh")

    def test_an_unknown_parameter_is_answered_with_the_possible_ones(self, make_plugin):
        one = load(make_plugin("p", selectors=[selector("a")]))
        with pytest.raises(UnknownNameError, match="unknown parameter 'siez' of 'a': did you mean 'size'"):
            one.make("a(siez=1)")
        with pytest.raises(UnknownNameError, match="choose from shade, size"):
            one.make("a(zzz=1)")

    def test_a_dataset_is_found_and_a_wrong_one_is_not(self, toy_registry):
        assert toy_registry.entry("dataset", "blobs").spec.n_samples == 24
        with pytest.raises(
            UnknownNameError, match=r"unknown dataset 'blob': did you mean 'blobs'.*mfbench datasets list"
        ):
            toy_registry.entry("dataset", "blob")

    def test_nothing_is_imported_before_it_is_made(self, make_plugin):
        spec = selector("a", factory="no_such_module_anywhere:Thing")
        one = load(make_plugin("p", selectors=[spec]))
        assert one.entry("selector", "a").spec is spec
        with pytest.raises(PluginError, match=r"'a' of p cannot be imported from 'no_such_module_anywhere:Thing'"):
            one.make("a")


class TestDuplicates:
    def test_a_colliding_name_is_refused_alone_and_the_package_chooses(self, subtests, make_plugin):
        for kind, spec in [
            ("selector", lambda name: selector(name)),
            ("classifier", lambda name: ClassifierSpec(name=name, summary="", factory=Thing)),
            ("dataset", lambda name: DatasetSpec(name=name, summary="", loader=Thing)),
        ]:
            with subtests.test(kind=kind, spec=spec):
                first, second = ([spec("twin"), spec(own)] for own in ("one", "two"))
                twins = load(make_plugin("first", **{f"{kind}s": first}), make_plugin("second", **{f"{kind}s": second}))
                find = partial(twins.entry, kind)
                with pytest.raises(
                    UsageError, match=f"2 packages register the {kind} 'twin': write .*first.* or .*second"
                ):
                    find("twin")
                assert find("twin@second").spec is second[0]
                assert (find("one").spec, find("two@second").spec) == (first[1], second[1])
                assert set(twins.listed(kind)) == {"one", "two", "twin@first", "twin@second"}

    def test_installed_packages_are_named_by_their_distribution(self, installed, plugin_text, recwarn):
        installed(one=plugin_text("twin", "other"), two=plugin_text("twin"))
        one = load_registry()
        with pytest.raises(UsageError, match="write 'twin@dist-one' or 'twin@dist-two'"):
            one.make("twin")
        assert one.entry("selector", "twin@Dist_Two").plugin.distribution == "dist-two"
        assert one.make("twin@dist-one") == {}
        with pytest.raises(UnknownNameError, match="'twin@dist-three': did you mean 'twin@dist-"):
            one.entry("selector", "twin@dist-three")
        with pytest.raises(UnknownNameError, match="'other@dist-two': did you mean 'other@dist-one'"):
            one.entry("selector", "other@dist-two")
        assert not recwarn.list  # nothing was asked for that the collision could have hidden

    def test_a_name_that_a_plugin_registers_twice_is_used_once(self, make_plugin):
        one = load(make_plugin("p", selectors=[selector("a", defaults={"size": 5}), selector("a")]))
        with pytest.warns(PluginWarning, match="selector 'a' is registered twice"):
            assert one.make("a").size == 5

    def test_suites_of_one_name_need_their_package_and_see_their_own_names_first(self, make_plugin, tmp_path):
        for folder in ("a", "b"):
            (tmp_path / folder).mkdir()
            (tmp_path / folder / "uci.toml").touch()
        twins = load(
            make_plugin("first", suites=[tmp_path / "a"], selectors=[selector("twin")]),
            make_plugin("second", suites=[tmp_path / "b"], selectors=[selector("twin")]),
        )
        assert set(twins.suites()) == {"uci@first", "uci@second"}
        with pytest.raises(UsageError, match="'uci@first' or 'uci@second'"):
            twins.suite_names.resolve("uci")
        assert twins.home_of(tmp_path / "b") == "second"
        assert twins.home_of(tmp_path) == ""
        assert twins.resolve("selector", "twin", "second") == "twin@second"
        assert twins.resolve("selector", "twin@first", "second") == "twin@first"

    def test_a_selector_and_a_classifier_may_share_a_name(self, make_plugin):
        both = load(
            make_plugin(
                "p", selectors=[selector("same")], classifiers=[ClassifierSpec(name="same", summary="", factory=Thing)]
            )
        )
        assert set(both.listed("selector")) == set(both.listed("classifier")) == {"same"}


class TestSuiteFolders:
    def test_toml_files_are_suites_by_their_stem(self, make_plugin, tmp_path):
        for name in ("one.toml", "two.toml", "notes.txt"):
            (tmp_path / name).touch()
        assert load(make_plugin("p", suites=[tmp_path])).suites() == {
            "one": tmp_path / "one.toml",
            "two": tmp_path / "two.toml",
        }

    def test_a_folder_that_two_plugins_share_or_that_is_gone_is_harmless(self, make_plugin, tmp_path):
        (tmp_path / "one.toml").touch()
        shared = load(make_plugin("p", suites=[tmp_path, tmp_path / "gone"]), make_plugin("q", suites=[tmp_path]))
        assert list(shared.suites()) == ["one"]

    def test_a_text_is_no_folder(self, make_plugin, tmp_path):
        (tmp_path / "one.toml").touch()
        mixed = load(make_plugin("careless", suites=["somewhere", tmp_path]))
        with pytest.warns(PluginWarning, match=r"careless.*'somewhere', expected pathlib.Path"):
            assert list(mixed.suites()) == ["one"]


class MuteError(Exception):
    def __repr__(self):
        raise SystemExit(0)

    __str__ = __repr__


def _raise(error):
    raise error


BAD_HOOKS = {
    "raises": (lambda: 1 / 0, "ZeroDivisionError"),
    "returns a number": (lambda: 3, "TypeError"),
    "returns nothing": (lambda: None, "TypeError"),
    "returns a bare spec": (lambda: selector("bare"), "TypeError"),
    "returns texts": (lambda: ["knn"], "'knn', expected SelectorSpec"),
    "returns the other spec": (
        lambda: [ClassifierSpec(name="c", summary="", factory=Thing)],
        "expected SelectorSpec",
    ),
    "yields and raises": (lambda: (x for x in [selector("half"), 1 / 0]), "ZeroDivisionError"),
    "makes a bad spec": (lambda: [selector("BAD NAME")], "not a valid name"),
    "has a list for a grid": (lambda: [selector("bad", grid=[1])], "selector 'bad': grid is [1], expected a mapping"),
    "has no summary": (
        lambda: [SelectorSpec(name="bad", summary=None, factory=Thing)],
        "selector 'bad': summary is None",
    ),
    "closes a generator": (lambda: _raise(GeneratorExit), "GeneratorExit"),
    "raises a bare exception": (lambda: _raise(BaseException), "BaseException"),
    "raises what cannot be printed": (lambda: _raise(MuteError), "its message cannot be shown"),
    "returns what cannot be printed": (lambda: [MuteError()], "an object of class MuteError, expected SelectorSpec"),
}


class TestCarelessPlugins:
    @pytest.mark.parametrize(("hook", "reason"), BAD_HOOKS.values(), ids=BAD_HOOKS)
    def test_a_bad_hook_is_named_and_the_others_go_on(self, make_plugin, hook, reason):
        one = load(make_plugin("careless", selectors=hook), make_plugin("fine", selectors=[selector("good")]))
        with pytest.warns(PluginWarning) as caught:
            assert list(one.listed("selector")) == ["good"]
        assert all("'careless'" in str(warning.message) and "'fine'" not in str(warning.message) for warning in caught)
        assert reason in str(caught[0].message)
        assert one.failed
        assert reason in one.failed[0]

    @pytest.mark.parametrize(("hook", "reason"), BAD_HOOKS.values(), ids=BAD_HOOKS)
    def test_strict_makes_it_an_error(self, make_plugin, hook, reason):
        one = load(make_plugin("careless", selectors=hook), strict=True)
        with pytest.raises(PluginError, match="careless") as caught:
            _ = one.listed("selector")
        assert reason in str(caught.value)

    def test_good_specs_beside_a_wrong_one_stay(self, make_plugin):
        one = load(make_plugin("p", selectors=[selector("good"), "bad", selector("fine")]))
        with pytest.warns(PluginWarning, match="'bad'"):
            assert sorted(one.listed("selector")) == ["fine", "good"]

    def test_ctrl_c_is_not_the_plugins(self, make_plugin):
        with pytest.raises(KeyboardInterrupt):
            _ = load(make_plugin("p", selectors=lambda: _raise(KeyboardInterrupt))).listed("selector")

    def test_a_section_of_a_report_that_exits_is_a_problem(self):
        module = types.SimpleNamespace(mfbench_report_sections=hookimpl(lambda: _raise(GeneratorExit)))
        sections, problems = load_registry(only=[], extra=[("rude", module)]).report_sections(lambda: None)
        assert sections == []
        assert "'rude'" in problems[0]
        assert "GeneratorExit" in problems[0]

    def test_a_hook_is_asked_once(self, make_plugin):
        calls = []
        one = load(make_plugin("p", selectors=lambda: calls.append(1) or [selector("a")]))
        assert one.listed("selector") is one.listed("selector")
        assert one.entry("selector", "a").plugin == Plugin("p", "p")
        assert calls == [1]

    def test_a_hook_that_exits_does_not_take_the_host_with_it(self, make_plugin):
        one = load(make_plugin("careless", selectors=lambda: sys.exit(3)), make_plugin("p", selectors=[selector("a")]))
        with pytest.warns(PluginWarning, match="careless"):
            assert list(one.listed("selector")) == ["a"]

    def test_a_factory_that_is_not_callable_names_the_package(self, make_plugin):
        one = load(make_plugin("p", selectors=[selector("a", factory="sys:path")]))
        with pytest.raises(PluginError, match=r"'a' of p: .* is not callable"):
            one.make("a")
