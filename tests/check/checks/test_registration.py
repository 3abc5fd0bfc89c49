"""What the host leaves out of a plugin is a failure of the plugin."""

import pytest

from mfbench.host.expressions import Plugin
from mfbench.host.registry import load_registry
from mfbench_check.checks.building import nothing_is_left_out
from mfbench_check.display import CheckFailedError
from mfbench_check.subjects import Opened, Subject


def opened(module):
    return Opened(Subject("plugin", module, Plugin(module, module)), load_registry(only=[module, "baselines"]))


@pytest.mark.filterwarnings("ignore")
def test_every_part_that_is_left_out_is_named():
    with pytest.raises(CheckFailedError, match=r"mfbench_datasets is not marked as a hook.*; plugin .*; ") as failure:
        nothing_is_left_out(opened("unsound_plugin"))
    assert len(failure.value.snippet.splitlines()) <= 10


@pytest.mark.filterwarnings("ignore")
def test_the_snippet_shows_what_is_left_out():
    with pytest.raises(CheckFailedError) as failure:
        nothing_is_left_out(opened("unsound_plugin"))
    with pytest.raises(AssertionError, match="not marked as a hook"):
        exec(failure.value.snippet, {})


def test_a_plugin_that_is_used_as_a_whole_passes():
    assert nothing_is_left_out(opened("correct_methods")) == "3 specs, 0 suites"


@pytest.mark.filterwarnings("ignore")
def test_what_is_left_out_of_another_plugin_is_not_its_failure():
    registry = load_registry(only=["unsound_plugin", "correct_methods"])
    subject = Subject("plugin", "correct_methods", Plugin("correct_methods", "correct_methods"))
    assert nothing_is_left_out(Opened(subject, registry))
