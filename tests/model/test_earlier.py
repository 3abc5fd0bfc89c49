"""What a source of results yields."""

from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from mfbench.model.earlier import EarlierRun


def test_a_run_of_this_machine_that_nobody_named_is_the_default():
    run = EarlierRun("own/full-1", Path("folder"))
    assert (run.is_verified, run.is_requested, run.has_origins) == (True, False, True)
    with pytest.raises(FrozenInstanceError):
        run.name = "another"
