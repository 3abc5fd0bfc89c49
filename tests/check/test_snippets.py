"""The code that a failure shows is run as a reader would run it: its last line, or the method, must fail."""

import importlib

import pytest
from opening import failure, opened

from mfbench.errors import UsageError

CASES = [
    (module, name, kind, check)
    for module in ("broken_contract", "broken_symmetry")
    for name, kind, _, check, _ in importlib.import_module(module).BANK
]
# What the method itself raises, where the failure is that it raises.
RAISED = {
    "fit-raises": IndexError,
    "grid-not-fittable": ValueError,
    "grid-unknown": UsageError,
    "needs-numbers-as-labels": ValueError,
}
# A spec is not shown by code, nor is a factory that cannot be called.
WITHOUT = {"spec", "factory"}


@pytest.mark.parametrize(
    ("module", "name", "kind", "check"), [case for case in CASES if case[3] not in WITHOUT], ids=lambda text: text
)
def test_the_snippet_of_a_broken_method_fails(module, name, kind, check, monkeypatch):
    snippet = failure(check, opened(module, name, kind)).snippet
    if name.endswith("-without-grid"):  # of the spec as well
        assert not snippet
        return
    monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", module)
    assert len(snippet.splitlines()) <= 10
    with pytest.raises(RAISED.get(name, AssertionError)):
        exec(compile(snippet, "<snippet>", "exec"), {})
