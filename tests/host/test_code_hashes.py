"""Provenance: what a result depends on changes when its code does."""

import functools
import importlib
import json
import re
import shutil
import subprocess
import sys
from importlib import metadata
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import SimpleNamespace

import pytest

import mfbench
from mfbench import ClassifierSpec, DatasetSpec, SelectorSpec
from mfbench.host import code_hashes, meaning
from mfbench.host.code_hashes import (
    HOST_PARTS,
    factory_name,
    host_code,
    method_code,
    numeric_versions,
    package_hash,
)
from mfbench.host.expressions import Plugin, Registered
from mfbench.host.registry import load_registry

IGNORED = shutil.ignore_patterns("__pycache__")


@pytest.fixture(autouse=True)
def forget():
    """Each look is a fresh one: a process reads files once."""
    code_hashes.forget()
    yield code_hashes.forget
    code_hashes.forget()


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An importable package with a plugin module and a helper in a subfolder."""
    folder = tmp_path / "gadget_package"
    (folder / "inner").mkdir(parents=True)
    for name in ("__init__.py", "plugin.py", "inner/__init__.py", "inner/helper.py"):
        (folder / name).write_text(f"# {name}\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    for name in [name for name in sys.modules if name.startswith("gadget")]:
        del sys.modules[name]


INSTALLED = host_code()


def registered(factory="gadget_package.plugin:Thing", plugin=None):
    spec = SelectorSpec(name="a", summary="", factory=factory)
    return Registered(spec, plugin or Plugin("gadget", "gadget_package.plugin"))


class TestPluginCode:
    @pytest.mark.parametrize(
        "change",
        [
            lambda folder: (folder / "inner" / "helper.py").write_text("# other\n"),
            lambda folder: (folder / "plugin.py").write_text("# other\n"),
            lambda folder: (folder / "inner" / "more.py").write_text(""),
            lambda folder: (folder / "inner" / "helper.py").unlink(),
            lambda folder: (folder / "inner" / "helper.py").rename(folder / "inner" / "renamed.py"),
        ],
        ids=["helper edited", "plugin edited", "file added", "file removed", "file renamed"],
    )
    def test_any_change_of_a_python_file_changes_it(self, package, forget, change):
        before = method_code(registered())
        change(package)
        forget()
        assert method_code(registered()) != before

    def test_nothing_else_changes_it(self, package, forget):
        before = method_code(registered())
        (package / "notes.txt").write_text("x")
        (package / "__pycache__").mkdir(exist_ok=True)
        (package / "plugin.py").write_bytes((package / "plugin.py").read_bytes())
        forget()
        assert method_code(registered()) == before

    def test_where_the_package_lies_does_not_change_it(self, package, forget, monkeypatch, tmp_path):
        before = method_code(registered())
        other = tmp_path / "elsewhere"
        shutil.copytree(package, other / package.name)
        monkeypatch.syspath_prepend(other)
        shutil.rmtree(package)
        forget()
        assert method_code(registered()) == before

    def test_text_moved_from_one_file_to_the_next_changes_it(self, package, forget):
        (package / "plugin.py").write_text("ab")
        (package / "z.py").write_text("c")
        before = package_hash("gadget_package")
        (package / "plugin.py").write_text("a")
        (package / "z.py").write_text("bc")
        forget()
        assert package_hash("gadget_package") != before

    def test_a_process_reads_the_files_once(self, package):
        before = method_code(registered())
        (package / "plugin.py").write_text("# other\n")
        assert method_code(registered()) == before

    def test_the_version_of_the_distribution_is_in_it(self, package, monkeypatch):
        self.pretend(monkeypatch, None)
        monkeypatch.setattr(code_hashes.metadata, "files", lambda name: [])
        codes = [
            method_code(registered(plugin=Plugin("gadget", "gadget_package.plugin", "gadget-dist", version)))
            for version in ("1.0", "1.1")
        ]
        assert codes[0] != codes[1]
        assert codes[1]["distribution gadget-dist"] == "1.1"

    @pytest.mark.parametrize(
        ("text", "counts"), [("'weights.csv'", True), ("f'{name}.csv'", True), ("'other.json'", False)]
    )
    def test_a_data_file_counts_if_the_code_names_it(self, package, forget, text, counts):
        (package / "plugin.py").write_text(f"name = 'weights'\nfile = {text}\n")
        (package / "weights.csv").write_text("1")
        before = method_code(registered())
        (package / "weights.csv").write_text("2")
        forget()
        assert (method_code(registered()) != before) == counts

    def test_all_packages_of_a_distribution_count_except_those_of_other_plugins(self, monkeypatch, package, tmp_path):
        for name in ("gadget_tools", "gadget_sister"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "__init__.py").write_text("")
        files = [
            metadata.PackagePath(path)
            for path in (
                "gadget_package/plugin.py",
                "gadget_tools/__init__.py",
                "gadget_sister/__init__.py",
                "gadget.dist-info/METADATA",
                "../../bin/run.py",
            )
        ]
        sister = metadata.EntryPoint("sister", "gadget_sister", "mfbench")
        monkeypatch.setattr(code_hashes.metadata, "files", lambda name: files)
        monkeypatch.setattr(code_hashes.metadata, "entry_points", lambda group: [sister])
        self.pretend(
            monkeypatch,
            ["numpy>=1", "mfbench", "not-installed-anywhere; python_version < '3'", "pytest; extra == 'test'"],
        )
        code = method_code(registered(plugin=Plugin("gadget", "gadget_package.plugin", "gadget-dist", "1")))
        assert set(code) == {
            "plugin gadget_package",
            "plugin gadget_tools",
            "distribution gadget-dist",
            "requirement numpy",
        }
        assert code["requirement numpy"] == metadata.version("numpy")

    def pretend(self, monkeypatch, requires, direct_url=None):
        """Let a distribution "gadget-dist" be installed."""
        real = metadata.distribution
        fake = SimpleNamespace(read_text=lambda name: direct_url)
        monkeypatch.setattr(code_hashes.metadata, "requires", lambda name: requires)
        monkeypatch.setattr(
            code_hashes.metadata, "distribution", lambda name: fake if name == "gadget-dist" else real(name)
        )

    def test_every_file_of_an_editable_project_counts(self, monkeypatch, package, tmp_path, forget):
        monkeypatch.setattr(code_hashes.metadata, "files", lambda name: [])
        url = json.dumps({"url": tmp_path.as_uri(), "dir_info": {"editable": True}})
        self.pretend(monkeypatch, None, url)
        editable = registered(plugin=Plugin("gadget", "gadget_package.plugin", "gadget-dist", "1"))
        (tmp_path / ".venv").mkdir()
        before = method_code(editable)
        for path, counts in ((".venv/other.py", False), ("sister.py", True)):
            (tmp_path / path).write_text("# new")
            forget()
            assert (method_code(editable) != before) == counts, path

    def test_a_helper_beside_a_loose_plugin_module_counts(self, tmp_path, monkeypatch, forget):
        (tmp_path / "gadget_loose.py").write_text("import gadget_helper\n")
        (tmp_path / "gadget_helper.py").write_text("VALUE = 1\n")
        monkeypatch.syspath_prepend(tmp_path)
        importlib.import_module("gadget_loose")
        loose = registered("gadget_loose:Thing", Plugin("gadget_loose", "gadget_loose"))
        before = method_code(loose)
        (tmp_path / "gadget_helper.py").write_text("VALUE = 2\n")
        forget()
        assert method_code(loose) != before


class TestImportedCode:
    """A plugin's results depend on helpers of other distributions, declared or not."""

    @pytest.fixture
    def helper(self, package, tmp_path):
        """A package of nobody's requirements, which the estimator's module imports by way of the plugin's helper."""
        folder = tmp_path / "gadget_foreign"
        folder.mkdir()
        (folder / "__init__.py").write_text("")
        (folder / "core.py").write_text("VALUE = 1\n")
        (package / "selector.py").write_text("from .inner import helper\nraise SystemExit('imported')\n")
        (package / "inner" / "helper.py").write_text("def late():\n    from gadget_foreign.core import VALUE\n")
        return folder

    foreign = registered("gadget_package.selector:Thing")

    @pytest.mark.parametrize(
        "change",
        [
            lambda folder: (folder / "core.py").write_text("VALUE = 2\n"),
            lambda folder: (folder / "loaded_by_a_computed_name.py").write_text("VALUE = 1\n"),
            lambda folder: (folder / f"_fast{EXTENSION_SUFFIXES[0]}").write_bytes(b"\x7fELF 2"),
        ],
        ids=["helper edited", "file added", "extension compiled"],
    )
    def test_an_edit_of_an_undeclared_helper_changes_it(self, helper, forget, change):
        before = method_code(self.foreign)
        assert before["import gadget_foreign"] == package_hash("gadget_foreign")
        change(helper)
        forget()
        assert method_code(self.foreign) != before

    def test_an_edit_of_a_helper_that_is_not_imported_does_not(self, helper, forget, tmp_path):
        before = method_code(self.foreign)
        (tmp_path / "gadget_unused.py").write_text("VALUE = 1\n")
        forget()
        assert method_code(self.foreign) == before

    def test_a_helper_of_a_helper_counts(self, helper, forget, tmp_path):
        (helper / "core.py").write_text("import gadget_deep\n")
        (tmp_path / "gadget_deep.py").write_text("VALUE = 1\n")
        before = method_code(self.foreign)
        (tmp_path / "gadget_deep.py").write_text("VALUE = 2\n")
        forget()
        assert method_code(self.foreign) != before

    def test_the_scientific_stack_is_known_by_version(self, helper, forget):
        (helper / "core.py").write_text("import numpy.linalg, pandas, mfbench, json\n")
        code = method_code(self.foreign)
        assert code["package pandas"] == metadata.version("pandas")
        assert {name for name in code if name.startswith("import")} == {"import gadget_foreign"}
        assert "package numpy" not in code  # it is among the libraries of every key

    def test_nothing_of_the_plugin_is_imported(self, helper):
        method_code(self.foreign)
        assert not {name for name in sys.modules if name.startswith("gadget")}

    def test_the_hash_of_a_package_is_the_one_of_stored_results(self, package):
        assert package_hash("gadget_package") == "0aebe11884cce516"


class TestForeignCode:
    def test_an_estimator_of_another_package_brings_its_version(self):
        code = method_code(load_registry(only=["baselines"]).entry("classifier", "knn"))
        assert code == {"package scikit-learn": metadata.version("scikit-learn")}

    def test_a_loose_module_brings_its_hash(self, package, tmp_path):
        (tmp_path / "gadget_other.py").write_text("# x\n")
        code = method_code(registered("gadget_other:Thing"))
        assert code["package gadget_other"] == package_hash("gadget_other") != ""

    def test_a_dataset_has_code_too(self, package):
        spec = DatasetSpec(name="d", summary="", loader="gadget_package.plugin:load")
        assert "plugin gadget_package" in method_code(Registered(spec, Plugin("gadget", "gadget_package.plugin")))

    def test_a_partial_is_a_factory_too(self, package):
        spec = ClassifierSpec(name="c", summary="", factory=functools.partial(dict))
        assert "plugin gadget_package" in method_code(Registered(spec, Plugin("gadget", "gadget_package.plugin")))

    def test_a_package_that_is_not_there_has_no_hash(self):
        assert package_hash("no_such_package_anywhere") == ""

    def test_a_factory_of_a_script_is_a_factory_too(self, monkeypatch, tmp_path):
        script = tmp_path / "script.py"
        script.write_text("print(1)\n")
        # A worker process of the tests has no script of its own.
        monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)
        monkeypatch.setattr(sys.modules["__main__"], "__file__", str(script), raising=False)
        package_hash.cache_clear()
        meaning.locate.cache_clear()
        assert package_hash("__main__")
        monkeypatch.delattr(sys.modules["__main__"], "__file__")
        package_hash.cache_clear()
        meaning.locate.cache_clear()
        assert package_hash("__main__") == ""


class TestBuiltInCode:
    """A built-in method is known by the meaning of its module and of all that it imports, wherever the files are."""

    @pytest.fixture
    def method(self, package):
        (package / "selector.py").write_text("from .inner import helper\nclass Thing:\n    size = helper.SIZE\n")
        (package / "inner" / "helper.py").write_text("SIZE = 1\n")
        (package / "unused.py").write_text("SIZE = 1\n")
        return registered("gadget_package.selector:Thing", Plugin("gadget", "gadget_package.plugin", "mfbench", "1"))

    def test_a_constant_of_an_imported_module_counts_and_a_comment_does_not(self, package, method, forget):
        before = method_code(method)
        assert list(before) == ["code a"]
        for path, text, counts in (
            ("inner/helper.py", "SIZE = 1  # a comment\n", False),
            ("unused.py", "SIZE = 2\n", False),
            ("plugin.py", "SIZE = 2\n", False),
            ("inner/helper.py", "SIZE = 2\n", True),
        ):
            (package / path).write_text(text)
            forget()
            assert (method_code(method) != before) == counts, (path, text)

    def test_a_move_to_another_package_and_a_new_version_do_not_count(self, package, method, forget, tmp_path):
        before = method_code(method), factory_name(method)
        (tmp_path / "gadget_new").mkdir()
        (tmp_path / "gadget_new" / "__init__.py").write_text("from gadget_new.place import Thing\n")
        (tmp_path / "gadget_new" / "place.py").write_text(
            "from gadget_new import sizes as helper\nclass Thing:\n    size = helper.SIZE\n"
        )
        (tmp_path / "gadget_new" / "sizes.py").write_text("SIZE = 1\n")
        forget()
        plugin = Plugin("new", "gadget_new.plugin", "mfbench", "2")
        for factory in ("gadget_new.place:Thing", "gadget_new:Thing"):
            moved = registered(factory, plugin)
            assert (method_code(moved), factory_name(moved)) == before

    def test_extensions_and_data_files_that_the_code_names_count(self, package, method, forget):
        (package / "selector.py").write_text("TABLE = 'table.toml'\nclass Thing: pass\n")
        (package / "table.toml").write_text("a = 1")
        seen = [method_code(method)]
        for path in ("table.toml", f"_fast{EXTENSION_SUFFIXES[0]}", "notes.txt"):
            (package / path).write_bytes(b"2")
            forget()
            seen.append(method_code(method))
        assert seen[0] != seen[1] != seen[2] == seen[3]

    def test_every_built_in_method_and_generated_dataset_has_code(self):
        registry = load_registry(
            only=["baselines", "controlled", "information", "margin", "relevance", "similarity", "sqpfw", "datasets"]
        )
        entries = [*registry.listed("selector").values(), *registry.listed("classifier").values()]
        entries += [entry for entry in registry.listed("dataset").values() if entry.spec.loader is not None]
        for entry in entries:
            ((name, value),) = method_code(entry).items()
            assert name in (f"code {entry.spec.name}", "package scikit-learn", "package xgboost") and value, name


class TestHostCode:
    def test_every_file_that_counts_is_there(self):
        root = Path(mfbench.__file__).parent
        assert all((root / part).exists() for part in HOST_PARTS.values())

    @pytest.fixture
    def host(self, monkeypatch, tmp_path):
        """A copy of the host."""
        folder = tmp_path / "mfbench"
        shutil.copytree(Path(mfbench.__file__).parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
        monkeypatch.setattr(code_hashes, "__file__", str(folder / "host" / "code_hashes.py"))
        return folder

    def test_an_edit_of_any_part_counts_and_a_comment_does_not(self, host, forget):
        before = host_code()
        places = [host / part for part in HOST_PARTS.values()]
        paths = [path if path.is_file() else sorted(path.glob("*.py"))[-1] for path in places]
        for path in paths:
            path.write_text(f"{path.read_text()}\n# edited\n")
        forget()
        assert host_code() == before
        seen = {before}
        for path in paths:
            path.write_text(f"{path.read_text()}\nEDITED = 1\n")
            forget()
            assert host_code() not in seen, path
            seen.add(host_code())

    def test_an_edit_of_a_report_does_not_count(self, host, forget):
        before = host_code()
        (host / "report" / "tables.py").write_text("EDITED = 1")
        forget()
        assert host_code() == before

    def test_a_moved_part_and_a_moved_module_that_parts_import_do_not_count(self, host):
        moves = {
            "data/rounds.py": "run/derived.py",
            "base/text.py": "report/words.py",
            "run/trial/guard.py": "host/g.py",
        }
        for old, new in moves.items():
            (host / old).rename(host / new)
            before, after = (f"mfbench.{place.removesuffix('.py').replace('/', '.')}" for place in (old, new))
            for path in host.rglob("*.py"):
                source = path.read_text()
                home, _, name = before.rpartition(".")
                there, _, other = after.rpartition(".")
                source = source.replace(f"from {home} import {name}\n", f"from {there} import {other} as {name}\n")
                path.write_text(re.sub(rf"\b{before}\b", after, source))
        hashes = host / "host" / "code_hashes.py"
        source = hashes.read_text().replace('"data/rounds.py"', '"run/derived.py"')
        hashes.write_text(
            source.replace('"trial": "run/trial",', '"trial": "run/trial",\n    "trial/guard": "host/g.py",')
        )
        script = "from mfbench.host.code_hashes import host_code; print(host_code(), end='')"
        command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(host.parent)!r}); {script}"]
        moved = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert moved == INSTALLED

    def test_the_numeric_libraries_are_told_by_version(self):
        assert numeric_versions() == {name: metadata.version(name) for name in code_hashes.NUMERIC}
        assert {"numpy", "scikit-learn", "xgboost"} <= set(numeric_versions())


def test_a_linked_folder_and_compiled_files_without_source_are_part_of_a_package(tmp_path, monkeypatch):
    package, parts = tmp_path / "made_linked", tmp_path / "elsewhere"
    package.mkdir()
    parts.mkdir()
    (package / "__init__.py").write_text("")
    (package / "parts").symlink_to(parts)
    (parts / "loop").symlink_to(package)
    monkeypatch.syspath_prepend(tmp_path)

    def hashed():
        package_hash.cache_clear()
        meaning.locate.cache_clear()
        return package_hash("made_linked")

    hashes = [hashed()]
    (parts / "one.py").write_text("x = 1")
    hashes.append(hashed())
    (package / "bare.pyc").write_bytes(b"1")
    hashes.append(hashed())
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "cached.pyc").write_bytes(b"1")
    assert len(set(hashes)) == 3 and hashed() == hashes[-1]
    package_hash.cache_clear()
    meaning.locate.cache_clear()
