from dataclasses import replace

import pytest
from opening import failure, opened, remark

from mfbench_check.display import CheckFailedError, NotApplicableError


def test_the_size_of_a_difference_is_stated():
    error = failure("same-seed", opened("broken_determinism", "goes-on-with-its-generator", "selector"))
    assert error.seen.startswith("weights differ by up to ")


def test_a_plugin_that_is_an_object_cannot_be_loaded_elsewhere():
    subject = opened("correct_methods", "mean-gap", "selector")
    plugin = replace(subject.subject.plugin, is_object=True)
    subject = replace(subject, subject=replace(subject.subject, plugin=plugin))
    with pytest.raises(NotApplicableError, match="handed over as an object"):
        remark("hash-seed", subject)


def test_what_ends_the_other_process_is_stated():
    subject = opened("correct_methods", "mean-gap", "selector")
    plugin = replace(subject.subject.plugin, module="no_such_module")
    subject = replace(subject, subject=replace(subject.subject, plugin=plugin))
    with pytest.raises(CheckFailedError, match=r"expected a fit in another process; seen: it failed: .*'mean-gap'"):
        remark("hash-seed", subject)
