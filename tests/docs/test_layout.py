"""The tests of a module are where its name says: `mfbench/ROOM/x.py` is tested by `tests/ROOM/test_x.py`."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# The entry point `python -m mfbench` has one line; the tests of the command line run it.
EXEMPT = {"__init__.py", "__main__.py"}
MODULES = sorted(path for path in (ROOT / "mfbench").rglob("*.py") if path.name not in EXEMPT)
LONGEST = 600
PACKAGES = sorted(path for path in (ROOT / "plugins").iterdir() if (path / "__init__.py").is_file())


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_host_module_has_a_test_file_of_its_name(module):
    folder = module.relative_to(ROOT / "mfbench").parent
    expected = ROOT / "tests" / folder / f"test_{module.name.lstrip('_')}"
    assert expected.is_file(), f"{module.relative_to(ROOT)} has no {expected.relative_to(ROOT)}"


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_every_plugin_has_a_folder_of_tests(package):
    folder = ROOT / "tests" / package.name.removeprefix("mfbench_")
    assert list(folder.rglob("test_*.py")), f"{package.name} has no tests in {folder.relative_to(ROOT)}"


@pytest.mark.parametrize("folder", ["mfbench", "plugins", "tests"])
def test_no_module_is_long(folder):
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in (ROOT / folder).rglob("*.py")}
    long = [f"{path.relative_to(ROOT)}: {n} lines" for path, n in lengths.items() if n > LONGEST]
    assert not long, f"split what has a second subject: {long}"
