"""The hooks that a plugin can implement."""

import inspect

from mfbench.host import hookspecs
from mfbench.host.registry import GROUP


def test_every_hook_has_the_prefix_and_a_description():
    hooks = {name: value for name, value in vars(hookspecs).items() if hasattr(value, "mfbench_spec")}
    assert set(hooks) >= {"mfbench_selectors", "mfbench_classifiers", "mfbench_datasets", "mfbench_suites"}
    assert all(name.startswith(f"{GROUP}_") and inspect.getdoc(hook) for name, hook in hooks.items())


def test_implementations_are_marked():
    @hookspecs.hookimpl
    def mfbench_suites():
        return []

    assert mfbench_suites.mfbench_impl
