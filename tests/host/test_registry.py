"""The registry: what plugins say is found by name, and a bad plugin harms nobody but itself."""

import sys
import types
import warnings
from importlib.metadata import EntryPoint

import pluggy
import pytest

from mfbench import ClassifierSpec, DatasetSpec, SelectorSpec, hookimpl
from mfbench.errors import PluginError, UnknownNameError, UsageError
from mfbench.host import hookspecs, registry
from mfbench.host.registered import Plugin
from mfbench.host.registry import PluginWarning, load_registry


class Thing:
    def __init__(self, size=1, *, shade="red"):
        self.size, self.shade = size, shade


def selector(name, **more):
    return SelectorSpec(name=name, summary="", **{"factory": Thing, **more})


def load(*plugins, **options):
    return load_registry(only=[], extra=[(module.__name__, module) for module in plugins], **options)


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """Return a function that writes modules and makes them the installed entry points, in the order given."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("MFBENCH_LOAD_PLUGINS", raising=False)

    class Distribution:
        def __init__(self, name):
            self.name, self.version = name, "1.2"

    def install(**modules):
        entries = []
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(text)
            entry = EntryPoint(name=name, value=name, group="mfbench")
            entries.append(entry._for(Distribution(f"dist-{name}")))
            monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.setattr(registry, "entry_points", lambda group: entries)

    yield install
    for path in tmp_path.glob("*.py"):
        sys.modules.pop(path.stem, None)


def plugin_text(*names):
    specs = ", ".join(f"SelectorSpec(name={name!r}, summary='', factory='collections:Counter')" for name in names)
    return f"from mfbench import SelectorSpec, hookimpl\n@hookimpl\ndef mfbench_selectors():\n    return [{specs}]\n"


class TestNames:
    def test_an_expression_becomes_an_estimator_with_its_parameters(self, make_plugin):
        found = load(make_plugin("p", selectors=[selector("relieff")])).make("relieff(size=10)")
        assert (type(found), found.size, found.shade) == (Thing, 10, "red")

    def test_defaults_of_the_spec_go_under_the_expression_and_overrides_over_it(self, make_plugin):
        one = load(make_plugin("p", selectors=[selector("a", defaults={"size": 5, "shade": "blue"})]))
        assert (one.make("a").size, one.make("a").shade) == (5, "blue")
        assert one.make("a(size=6)").size == 6
        assert one.make("a(size=6)", size=7).size == 7

    def test_a_name_that_is_both_is_a_classifier_unless_the_kind_says_otherwise(self, make_plugin):
        class Other(Thing):
            pass

        both = load(
            make_plugin(
                "p", selectors=[selector("both")], classifiers=[ClassifierSpec(name="both", summary="", factory=Other)]
            )
        )
        assert type(both.make("both")) is Other
        assert type(both.make("both", "selector")) is Thing
        assert type(both.make("both", "classifier")) is Other

    def test_a_typo_is_answered_with_the_near_names(self, make_plugin):
        one = load(make_plugin("p", selectors=[selector("relieff"), selector("variance")]))
        with pytest.raises(UnknownNameError, match=r"unknown selector 'relief-f': did you mean 'relieff'\?"):
            one.selector("relief-f")
        with pytest.raises(UnknownNameError, match=r"selector or classifier 'relief-f': did you mean 'relieff'"):
            one.make("relief-f")
        with pytest.raises(UnknownNameError, match="unknown classifier 'x': there are none"):
            one.classifier("x")

    def test_a_name_of_the_other_kind_is_told_as_such(self, make_plugin):
        one = load(make_plugin("p", selectors=[selector("weigh")]))
        with pytest.raises(UsageError, match="'weigh' is a selector, not a classifier"):
            one.classifier("weigh")

    def test_an_unknown_parameter_is_answered_with_the_possible_ones(self, make_plugin):
        one = load(make_plugin("p", selectors=[selector("a")]))
        with pytest.raises(UnknownNameError, match="unknown parameter 'siez' of 'a': did you mean 'size'"):
            one.make("a(siez=1)")
        with pytest.raises(UnknownNameError, match="choose from shade, size"):
            one.make("a(zzz=1)")

    def test_a_dataset_is_found_and_a_wrong_one_is_not(self, toy_registry):
        assert toy_registry.dataset("blobs").spec.n_samples == 24
        with pytest.raises(
            UnknownNameError, match=r"unknown dataset 'blob': did you mean 'blobs'.*mfbench datasets list"
        ):
            toy_registry.dataset("blob")

    def test_nothing_is_imported_before_it_is_made(self, make_plugin):
        spec = selector("a", factory="no_such_module_anywhere:Thing")
        one = load(make_plugin("p", selectors=[spec]))
        assert one.selector("a").spec is spec
        with pytest.raises(PluginError, match=r"'a' of p cannot be imported from 'no_such_module_anywhere:Thing'"):
            one.make("a")


class TestDuplicates:
    @pytest.mark.parametrize(
        ("kind", "spec"),
        [
            ("selectors", lambda: selector("twin")),
            ("classifiers", lambda: ClassifierSpec(name="twin", summary="", factory=Thing)),
            ("datasets", lambda: DatasetSpec(name="twin", summary="", loader=Thing)),
        ],
    )
    def test_one_name_from_two_plugins_is_refused_and_both_are_named(self, make_plugin, kind, spec):
        twins = load(make_plugin("first", **{kind: [spec()]}), make_plugin("second", **{kind: [spec()]}))
        with pytest.raises(PluginError, match="'twin'") as caught:
            getattr(twins, kind)
        assert "first" in str(caught.value)
        assert "second" in str(caught.value)

    def test_installed_packages_are_named_with_their_version(self, installed):
        installed(one=plugin_text("twin"), two=plugin_text("twin"))
        with pytest.raises(PluginError, match="two packages register the selector 'twin'") as caught:
            _ = load_registry().selectors
        assert "dist-one 1.2" in str(caught.value)
        assert "dist-two 1.2" in str(caught.value)
        assert "MFBENCH_LOAD_PLUGINS" in str(caught.value)

    def test_a_selector_and_a_classifier_may_share_a_name(self, make_plugin):
        both = load(
            make_plugin(
                "p", selectors=[selector("same")], classifiers=[ClassifierSpec(name="same", summary="", factory=Thing)]
            )
        )
        assert set(both.selectors) == set(both.classifiers) == {"same"}

    def test_two_suites_of_one_name_are_refused_and_both_plugins_named(self, make_plugin, tmp_path):
        for folder in ("a", "b"):
            (tmp_path / folder).mkdir()
            (tmp_path / folder / "uci.toml").touch()
        twins = load(
            make_plugin("first", suites=[tmp_path / "a"]),
            make_plugin("second", suites=[tmp_path / "b"]),
        )
        with pytest.raises(PluginError, match="'uci'") as caught:
            twins.suites()
        assert "first" in str(caught.value)
        assert "second" in str(caught.value)


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
}


class TestCarelessPlugins:
    @pytest.mark.parametrize(("hook", "reason"), BAD_HOOKS.values(), ids=BAD_HOOKS)
    def test_a_bad_hook_is_named_and_the_others_go_on(self, make_plugin, hook, reason):
        one = load(make_plugin("careless", selectors=hook), make_plugin("fine", selectors=[selector("good")]))
        with pytest.warns(PluginWarning) as caught:
            assert list(one.selectors) == ["good"]
        assert all("'careless'" in str(warning.message) and "'fine'" not in str(warning.message) for warning in caught)
        assert reason in str(caught[0].message)
        assert one.failed
        assert reason in one.failed[0]

    @pytest.mark.parametrize(("hook", "reason"), BAD_HOOKS.values(), ids=BAD_HOOKS)
    def test_strict_makes_it_an_error(self, make_plugin, hook, reason):
        one = load(make_plugin("careless", selectors=hook), strict=True)
        with pytest.raises(PluginError, match="careless") as caught:
            _ = one.selectors
        assert reason in str(caught.value)

    def test_good_specs_beside_a_wrong_one_stay(self, make_plugin):
        one = load(make_plugin("p", selectors=[selector("good"), "bad", selector("fine")]))
        with pytest.warns(PluginWarning, match="'bad'"):
            assert sorted(one.selectors) == ["fine", "good"]

    def test_a_hook_is_asked_once(self, make_plugin):
        calls = []
        one = load(make_plugin("p", selectors=lambda: calls.append(1) or [selector("a")]))
        assert one.selectors is one.selectors
        assert one.selector("a").plugin == Plugin("p", "p")
        assert calls == [1]

    def test_a_hook_that_exits_does_not_take_the_host_with_it(self, make_plugin):
        one = load(make_plugin("careless", selectors=lambda: sys.exit(3)), make_plugin("p", selectors=[selector("a")]))
        with pytest.warns(PluginWarning, match="careless"):
            assert list(one.selectors) == ["a"]

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("1 / 0", "ZeroDivisionError"),
            ("import no_such_module_anywhere", "ModuleNotFoundError"),
            ("this isn't python at all", "SyntaxError"),
            ("raise SystemExit(3)", "SystemExit"),
        ],
    )
    def test_a_plugin_that_fails_to_import_is_named_and_the_rest_works(self, installed, text, reason):
        installed(broken=text, fine=plugin_text("good"))
        with pytest.warns(PluginWarning, match=f"dist-broken 1.2.*{reason}.*left out"):
            one = load_registry()
        assert list(one.selectors) == ["good"]
        assert len(one.failed) == 1
        with pytest.raises(PluginError, match=f"dist-broken 1.2.*{reason}"):
            load_registry(strict=True)

    def test_an_unknown_argument_of_a_hook_is_named(self, make_plugin):
        module = types.ModuleType("eager")

        @hookimpl
        def mfbench_selectors(everything):
            return []

        module.mfbench_selectors = mfbench_selectors
        fine = make_plugin("fine", selectors=[selector("good")])
        with pytest.warns(PluginWarning, match=r"(?s)eager.*not valid.*everything"):
            one = load(module, fine)
        assert list(one.selectors) == ["good"]
        assert module not in one.plugins

    def test_a_factory_that_is_not_callable_names_the_package(self, make_plugin):
        one = load(make_plugin("p", selectors=[selector("a", factory="sys:path")]))
        with pytest.raises(PluginError, match=r"'a' of p: .* is not callable"):
            one.make("a")


class TestWhichPlugins:
    def test_entry_points_load_by_name_of_distribution_whatever_the_order(self, installed):
        installed(b=plugin_text("from-b"), a=plugin_text("from-a"))
        one = load_registry()
        assert [plugin.name for plugin in one.plugins.values()] == ["a", "b"]
        assert set(one.selectors) == {"from-a", "from-b"}
        assert one.selector("from-a").plugin == Plugin("a", "a", "dist-a", "1.2")

    def test_the_variable_names_exactly_those_to_load(self, installed, monkeypatch):
        installed(a=plugin_text("from-a"), b=plugin_text("from-b"))
        monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", " b , ")
        assert set(load_registry().selectors) == {"from-b"}
        monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", "")
        assert load_registry().selectors == {}

    def test_the_variable_takes_modules_that_are_no_entry_points(self, installed, monkeypatch, tmp_path):
        installed(a=plugin_text("from-a"))
        (tmp_path / "loose.py").write_text(plugin_text("from-loose"))
        monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", "loose")
        one = load_registry()
        assert one.selector("from-loose").plugin == Plugin("loose", "loose")
        monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", "all,loose,a")
        assert set(load_registry().selectors) == {"from-a", "from-loose"}

    def test_an_argument_goes_over_the_variable(self, installed, monkeypatch):
        installed(a=plugin_text("from-a"), b=plugin_text("from-b"))
        monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", "a")
        assert set(load_registry(only=["b"]).selectors) == {"from-b"}

    def test_a_plugin_that_does_not_exist_is_named(self, installed, monkeypatch):
        installed(a=plugin_text("from-a"))
        monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", "no_such_module_anywhere,a")
        with pytest.warns(PluginWarning, match="'no_such_module_anywhere'"):
            assert set(load_registry().selectors) == {"from-a"}

    def test_two_packages_may_use_one_entry_point_name(self, installed, monkeypatch):
        installed(a=plugin_text("from-a"), b=plugin_text("from-b"))
        entries = registry.entry_points("mfbench")
        renamed = [EntryPoint("x", entry.value, "mfbench")._for(entry.dist) for entry in entries]
        monkeypatch.setattr(registry, "entry_points", lambda group: renamed)
        assert set(load_registry().selectors) == {"from-a", "from-b"}

    def test_calls_are_traced_when_asked(self, installed, monkeypatch, capsys):
        installed(a=plugin_text("from-a"))
        monkeypatch.setenv("MFBENCH_TRACE_PLUGINS", "1")
        manager = load_registry().manager
        manager.hook.mfbench_selectors()
        assert "mfbench_selectors" in capsys.readouterr().err

    def test_the_built_in_plugins_use_the_same_door(self, monkeypatch):
        monkeypatch.delenv("MFBENCH_LOAD_PLUGINS", raising=False)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            one = load_registry(strict=True)
            names = {plugin.name for plugin in one.plugins.values() if plugin.distribution == "mfbench"}
            assert names == {"baselines", "datasets", "margin", "relevance", "similarity", "sqpfw", "suites"}
            assert one.selectors.keys() >= {"relieff", "variance"}
            assert "knn" in one.classifiers
            assert "wine" in one.datasets
            assert "uci" in one.suites()

    def test_the_hooks_are_those_that_are_specified(self):
        manager = pluggy.PluginManager("mfbench")
        manager.add_hookspecs(hookspecs)
        names = {name for name in dir(manager.hook) if name.startswith("mfbench_")}
        four = {"mfbench_selectors", "mfbench_classifiers", "mfbench_datasets", "mfbench_suites"}
        assert names == {*four, "mfbench_report_sections"}

    def test_a_plugin_may_be_an_object(self):
        class Plug:
            @hookimpl
            def mfbench_selectors(self):
                return [selector("mine")]

        assert list(load_registry(only=[], extra=[("plug", Plug())]).selectors) == ["mine"]

    def test_a_plugin_may_be_a_simple_namespace(self):
        plug = types.SimpleNamespace(mfbench_selectors=hookimpl(lambda: [selector("mine")]))
        assert list(load_registry(only=[], extra=[("plug", plug)]).selectors) == ["mine"]
