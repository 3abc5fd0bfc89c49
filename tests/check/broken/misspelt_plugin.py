"""A plugin with a hook that does not exist."""

from mfbench import hookimpl


@hookimpl
def mfbench_selectorss():
    return []
