"""Which sources the compiled functions of a package depend on."""

import pytest

from mfbench_learners import compiled

FILES = {
    "__init__.py": "",
    "constants.py": "ONE = 1\n",
    "unused.py": "from pkg import kernels\n",
    "kernels.py": "from numba import njit\nfrom pkg.constants import (\n    ONE,\n)\n",
    "deep/__init__.py": "",
    "deep/more.py": "import numba\nfrom ..relative import x  # njit\nfrom pkg.deep import sibling\nimport pkg.plain\n",
    "deep/sibling.py": "",
    "relative.py": "from . import further\n",
    "further.py": "",
    "plain.py": "",
}


@pytest.fixture
def package(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / "pkg" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "pkg"


def stamp(package):
    compiled._package_stamp.cache_clear()
    values = {compiled.stamp(str(package / name)) for name in FILES}
    assert len(values) == 1  # functions are passed from one module to another
    return values.pop()


@pytest.mark.parametrize("name", FILES)
def test_a_change_counts_if_compiled_code_may_depend_on_it(package, name):
    before = stamp(package)
    (package / name).write_text(FILES[name] + "# more\n")
    assert (stamp(package) != before) == (name != "unused.py")


def test_a_new_module_without_compiled_functions_does_not_count_and_one_with_them_does(package):
    before = stamp(package)
    (package / "new.py").write_text("")
    assert stamp(package) == before
    (package / "new.py").write_text("from numba import njit\n")
    assert stamp(package) != before


def test_a_module_without_a_package_depends_on_itself(tmp_path):
    path = tmp_path / "alone.py"
    path.write_text("x = 1\n")
    before = compiled.stamp(str(path))
    (tmp_path / "another.py").write_text("njit\n")
    assert compiled.stamp(str(path)) == before
    path.write_text("x = 2\n")
    assert compiled.stamp(str(path)) != before
