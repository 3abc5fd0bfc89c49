"""Contract of a plugin: the host uses everything that it registers."""

from __future__ import annotations

from mfbench_check.catalog import check
from mfbench_check.subjects import Opened
from mfbench_check.verdicts import CheckFailedError


@check("registration", group="contract", kinds=("plugin",))
def nothing_is_left_out(subject: Opened) -> str:
    """The plugin can be imported, and the host uses all its hooks and specs.

    What the host cannot use it leaves out with a warning, so that one plugin does not keep others from working: a spec
    with a field of the wrong type, a name that is registered twice, a function that is named like a hook but not
    marked as one, a hook that raises.
    """
    registry, plugin = subject.registry, subject.subject.plugin
    tables = (registry.selectors, registry.classifiers, registry.datasets)
    n_suites = sum(path.parent.resolve() in _folders(subject) for path in registry.suites().values())
    problems = [problem.sentence for problem in registry.problems.records if problem.plugin == plugin]
    if problems:
        load = f"registry = load_registry(only=[{plugin.name!r}])"
        lines = [
            "from mfbench.host.registry import load_registry",
            load,
            "registry.selectors, registry.classifiers, registry.datasets, registry.suites()",
            "assert not registry.failed, registry.failed",
        ]
        raise CheckFailedError("everything that it registers can be used", "; ".join(problems), "\n".join(lines))
    n_specs = sum(one.plugin == plugin for table in tables for one in table.values())
    return f"{n_specs} specs, {n_suites} suites"


def _folders(subject: Opened) -> set[object]:
    plugin = subject.subject.plugin
    return {folder.resolve() for folder, owner in subject.registry.suite_folders if owner == plugin}
