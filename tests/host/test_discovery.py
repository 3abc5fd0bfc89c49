"""Which plugins load, and the report of one that does not."""

import types
import warnings
from importlib.metadata import EntryPoint

import pluggy
import pytest

from mfbench import SelectorSpec, hookimpl
from mfbench.errors import PluginError
from mfbench.host import discovery, hookspecs
from mfbench.host.discovery import PluginWarning
from mfbench.host.expressions import Plugin
from mfbench.host.registry import load_registry


def selector(name):
    return SelectorSpec(name=name, summary="", factory="collections:Counter")


def load(*plugins, **options):
    return load_registry(only=[], extra=[(module.__name__, module) for module in plugins], **options)


class TestImports:
    def test_a_plugin_that_fails_to_import_is_named_and_the_rest_works(self, subtests, installed, plugin_text):
        for text, reason in [
            ("1 / 0", "ZeroDivisionError"),
            ("import no_such_module_anywhere", "ModuleNotFoundError"),
            ("this isn't python at all", "SyntaxError"),
            ("raise SystemExit(3)", "SystemExit"),
        ]:
            with subtests.test(text=text, reason=reason):
                installed(broken=text, fine=plugin_text("good"))
                with pytest.warns(PluginWarning, match=f"dist-broken 1.2.*{reason}.*left out"):
                    one = load_registry()
                assert list(one.listed("selector")) == ["good"]
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
        assert list(one.listed("selector")) == ["good"]
        assert module not in one.plugins


class TestForgottenHooks:
    def module(self, **functions):
        module = types.ModuleType("forgetful")
        vars(module).update(functions)
        return module

    @pytest.mark.parametrize("name", ["mfbench_selectors", "mfbench_selector"])
    def test_a_function_without_the_mark_is_named_with_the_remedy(self, name):
        with pytest.warns(PluginWarning, match=rf"{name} is not marked .* mark it with @mfbench.hookimpl") as caught:
            load(self.module(**{name: lambda: ()}))
        assert len(caught) == 1

    def test_the_other_hooks_of_the_module_work(self):
        marked = hookimpl(lambda: [selector("mine")])
        with pytest.warns(PluginWarning, match="mfbench_datasets is not marked"):
            one = load(self.module(mfbench_selectors=marked, mfbench_datasets=lambda: ()))
        assert list(one.listed("selector")) == ["mine"]
        with pytest.raises(PluginError, match="mfbench_datasets is not marked"):
            load(self.module(mfbench_selectors=marked, mfbench_datasets=lambda: ()), strict=True)

    def test_a_helper_is_no_hook(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            load(self.module(mfbench_selectors=hookimpl(lambda: ()), mfbench_version=lambda: "1"))

    def test_what_has_no_hooks_is_told_what_an_entry_point_names(self, subtests):
        for value in [types.ModuleType("empty"), object(), len, {"a": 1}]:
            with subtests.test(value=value):
                with pytest.warns(PluginWarning, match="implements no hook.*entry point must name the module"):
                    one = load_registry(only=[], extra=[("empty", value)])
                assert "empty" not in {plugin.name for plugin in one.plugins.values()}

    def test_a_class_is_told_to_be_an_object(self):
        class Plug:
            @hookimpl
            def mfbench_selectors(self):
                return []

        with pytest.warns(PluginWarning, match="names a class; name the module, or an object of the class"):
            load(Plug)

    def test_an_attribute_that_raises_is_contained(self):
        class Plug:
            @property
            def mfbench_selectors(self):
                raise SystemExit(0)

        with pytest.warns(PluginWarning, match="'rude'.*SystemExit"):
            load_registry(only=[], extra=[("rude", Plug())])


class TestWhichPlugins:
    def test_entry_points_load_by_name_of_distribution_whatever_the_order(self, installed, plugin_text):
        installed(b=plugin_text("from-b"), a=plugin_text("from-a"))
        one = load_registry()
        assert [plugin.name for plugin in one.plugins.values()] == ["a", "b"]
        assert set(one.listed("selector")) == {"from-a", "from-b"}
        assert one.entry("selector", "from-a").plugin == Plugin("a", "a", "dist-a", "1.2")

    def test_the_variable_names_exactly_those_to_load(self, installed, plugin_text, monkeypatch):
        installed(a=plugin_text("from-a"), b=plugin_text("from-b"))
        monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", " b , ")
        assert set(load_registry().listed("selector")) == {"from-b"}
        monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", "")
        assert load_registry().listed("selector") == {}

    def test_the_variable_takes_modules_that_are_no_entry_points(self, installed, plugin_text, monkeypatch, tmp_path):
        installed(a=plugin_text("from-a"))
        (tmp_path / "loose.py").write_text(plugin_text("from-loose"))
        monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", "loose")
        one = load_registry()
        assert one.entry("selector", "from-loose").plugin == Plugin("loose", "loose")
        monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", "all,loose,a")
        assert set(load_registry().listed("selector")) == {"from-a", "from-loose"}

    def test_an_argument_goes_over_the_variable(self, installed, plugin_text, monkeypatch):
        installed(a=plugin_text("from-a"), b=plugin_text("from-b"))
        monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", "a")
        assert set(load_registry(only=["b"]).listed("selector")) == {"from-b"}

    def test_a_plugin_that_does_not_exist_is_named(self, installed, plugin_text, monkeypatch):
        installed(a=plugin_text("from-a"))
        monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", "no_such_module_anywhere,a")
        with pytest.warns(PluginWarning, match="'no_such_module_anywhere'"):
            assert set(load_registry().listed("selector")) == {"from-a"}

    def test_two_packages_may_use_one_entry_point_name(self, installed, plugin_text, monkeypatch):
        installed(a=plugin_text("from-a"), b=plugin_text("from-b"))
        entries = discovery.entry_points("mfbench")
        renamed = [EntryPoint("x", entry.value, "mfbench")._for(entry.dist) for entry in entries]
        monkeypatch.setattr(discovery, "entry_points", lambda group: renamed if group == "mfbench" else [])
        assert set(load_registry().listed("selector")) == {"from-a", "from-b"}

    def test_calls_are_traced_when_asked(self, installed, plugin_text, monkeypatch, capsys):
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
            methods = {
                "audit",
                "baselines",
                "controlled",
                "information",
                "margin",
                "regression",
                "relevance",
                "similarity",
                "sqpfw",
            }
            assert names == {
                *methods,
                "dask",
                "datasets",
                "audits",
                "races",
                "select",
                "metrics",
                "protocols",
                "splitters",
                "suites",
                "tasks",
            }
            assert one.listed("selector").keys() >= {"relieff", "variance"}
            assert "knn" in one.listed("classifier")
            assert "wine" in one.listed("dataset")
            assert "uci" in one.suites()

    def test_the_hooks_are_those_that_are_specified(self):
        manager = pluggy.PluginManager("mfbench")
        manager.add_hookspecs(hookspecs)
        names = {name for name in dir(manager.hook) if name.startswith("mfbench_")}
        four = {"mfbench_selectors", "mfbench_classifiers", "mfbench_datasets", "mfbench_suites"}
        assert names == {
            *four,
            "mfbench_executors",
            "mfbench_metrics",
            "mfbench_protocols",
            "mfbench_regressors",
            "mfbench_splitters",
            "mfbench_tasks",
            "mfbench_report_sections",
            "mfbench_earlier_results",
            "mfbench_open_run",
            "mfbench_part_of_plan",
            "mfbench_finished",
            "mfbench_pool",
        }

    def test_a_plugin_may_be_an_object(self):
        class Plug:
            @hookimpl
            def mfbench_selectors(self):
                return [selector("mine")]

        assert list(load_registry(only=[], extra=[("plug", Plug())]).listed("selector")) == ["mine"]

    def test_a_plugin_may_be_a_simple_namespace(self):
        plug = types.SimpleNamespace(mfbench_selectors=hookimpl(lambda: [selector("mine")]))
        assert list(load_registry(only=[], extra=[("plug", plug)]).listed("selector")) == ["mine"]
