"""The code that a failure shows is run as a reader would run it: its last line, or the method, must fail."""

import importlib

import pytest
from opening import failure, opened

from mfbench.errors import UnknownNameError

# What the method itself raises, where the failure is that it raises.
RAISED = {
    "fit-raises": IndexError,
    "grid-not-fittable": ValueError,
    "grid-unknown": UnknownNameError,
    "needs-numbers-as-labels": ValueError,
}
# A spec is not shown by code, nor is a factory that cannot be called.
WITHOUT = {"spec", "factory"}


def exception_of(snippet):
    try:
        exec(compile(snippet, "<snippet>", "exec"), {})
    except Exception as error:
        return type(error)
    return None


@pytest.mark.parametrize("module", ["broken_contract", "broken_symmetry", "broken_regressors"])
def test_the_snippets_of_the_broken_methods_of_a_module_fail(module, monkeypatch):
    monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", module)
    rows = [row for row in importlib.import_module(module).BANK if row[3] not in WITHOUT]
    snippets = {name: failure(check, opened(module, name, kind)).snippet for name, kind, _, check, _ in rows}
    without = {name for name in snippets if name.endswith("-without-grid")}  # of the spec as well
    assert {name for name, snippet in snippets.items() if not 1 <= len(snippet.splitlines()) <= 10} == without
    raised = {name: exception_of(snippets[name]) for name in snippets.keys() - without}
    assert raised == {name: RAISED.get(name, AssertionError) for name in raised}
