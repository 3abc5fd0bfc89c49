"""The cache of compiled functions: there is always a place for it or none is needed, and it is never out of date."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core.errors import NumbaError

from mfbench_learners.compiled import njit

FILES = {
    "own/__init__.py": "",
    "own/constants.py": "SHIFT = 100\n",
    "own/callee.py": """
from mfbench_learners.compiled import njit
@njit(cache=True)
def add(x):
    return x + 1
""",
    "own/caller.py": """
from mfbench_learners.compiled import njit
from own.callee import add
from own.constants import SHIFT
@njit(cache=True)
def total(x):
    return add(x) + SHIFT
""",
    "own/other.py": "VALUE = 1\n",
}
RUN = """
from own.caller import total
print(total(1), sum(total.stats.cache_hits.values()), total._cache.cache_path)
"""


@pytest.fixture
def package(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "site" / "own"


def run(package, code=RUN, **environment):
    """Call the compiled function in a new process; return its value, the hits of its cache and the cache's folder."""
    path = os.pathsep.join([str(package.parent), *(str(Path(entry)) for entry in sys.path if entry)])
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path, **environment},
        cwd=package.parents[1],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    value, hits, folder = result.stdout.split(maxsplit=2)
    return int(value), int(hits), folder.strip()


def without_places(package):
    """Return variables of an environment where neither the package nor the home can hold a cache, and nor can /tmp."""
    (package / "__pycache__").touch()
    temporary = package.parents[1] / "temporary"
    temporary.mkdir()
    home = str(package / "__init__.py" / "home")
    return temporary, {"HOME": home, "XDG_CACHE_HOME": home, "TMPDIR": str(temporary), "PYTHONDONTWRITEBYTECODE": "1"}


def test_what_a_compiled_function_depends_on_is_never_out_of_date(package):
    assert run(package)[:2] == (102, 0)
    (package / "other.py").write_text("VALUE = 2\n")
    assert run(package)[:2] == (102, 1)
    edits = [
        ("callee", "x + 1", "x + 2", 103),
        ("constants", "100", "200", 203),
        ("caller", "+ SHIFT", "- SHIFT", -197),
    ]
    for name, old, new, expected in edits:
        file = package / f"{name}.py"
        file.write_text(file.read_text().replace(old, new))
        assert run(package)[:2] == (expected, 0)
    assert run(package)[:2] == (-197, 1)


def test_without_a_place_beside_the_code_or_at_home_it_is_the_folder_of_temporary_files(package):
    temporary, environment = without_places(package)
    value, hits, folder = run(package, **environment)
    assert (value, hits) == (102, 0) and folder.startswith(str(temporary))
    assert run(package, **environment)[:2] == (102, 1)


def test_without_any_place_it_compiles_without_a_cache(package):
    temporary, environment = without_places(package)
    (temporary / f"mfbench-numba-{os.getuid()}").touch()
    assert run(package, **environment) == (102, 0, "None")


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_folder_that_others_can_write_to_is_not_used(package):
    temporary, environment = without_places(package)
    folder = temporary / f"mfbench-numba-{os.getuid()}"
    folder.mkdir()
    folder.chmod(0o777)
    assert run(package, **environment) == (102, 0, "None")


def test_the_folder_that_a_variable_names_comes_first(package, tmp_path):
    folder = tmp_path / "mine"
    assert run(package, NUMBA_CACHE_DIR=str(folder))[2].startswith(str(folder))


def test_functions_that_are_not_compiled_stay_as_they_are(package):
    code = "from mfbench_learners.compiled import njit\ndef f(x): return x\nassert njit(f, cache=True) is f"
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, check=True)


@njit
def factorial(x):
    return 1 if x < 2 else x * factorial(x - 1)


@njit
def above(x):
    return factorial(x) + 1


def test_code_for_python_is_compiled_only_for_functions_that_python_calls():
    assert above(4) == 25
    assert len(above.signatures) == 1 and not factorial.signatures
    assert factorial(3) == 6 and len(factorial.signatures) == 1


@njit(allocates=False)
def first(x):
    return x[0]


@njit(allocates=False)
def fresh(x):
    return x + 1


def test_a_function_that_does_not_allocate_counts_no_references():
    assert first(np.arange(3.0)) == 0.0
    assert "NRT_incref" not in "".join(first.inspect_llvm().values())
    with pytest.raises(NumbaError, match="returning of array"):
        fresh(np.arange(3.0))


def test_a_pickled_function_can_be_called_from_compiled_functions(package):
    code = (
        "import pickle, sys\nfrom mfbench_learners.compiled import njit\nfrom own.callee import add\n"
        "if len(sys.argv) == 1:\n    import subprocess\n"
        "    run = [sys.executable, '-c', sys.orig_argv[2], pickle.dumps(add).hex()]\n"
        "    subprocess.run(run, check=True)\n"
        "else:\n    other = pickle.loads(bytes.fromhex(sys.argv[1]))\n"
        "    print(njit(lambda x: other(x))(1), 0, '-')"
    )
    assert run(package, code)[:2] == (2, 0)


def test_both_kinds_of_code_have_their_place_in_the_cache(package):
    code = "from own.caller import total\nfrom own.callee import add\nprint(total(1) + add(1), {}, '-')"
    hits = "sum(total.stats.cache_hits.values()) + sum(add.stats.cache_hits.values())"
    assert [run(package, code.format(hits))[:2] for _ in range(2)] == [(104, 0), (104, 2)]
