"""A plugin of which the host leaves out all but one spec."""

from mfbench import SelectorSpec, hookimpl


@hookimpl
def mfbench_selectors():
    spec = SelectorSpec(name="kept", summary="kept", factory="correct_methods:MeanGap")
    return [spec, spec, SelectorSpec(name="odd", summary="odd", factory="correct_methods:MeanGap", grid=[1])]


def mfbench_datasets():
    return []
