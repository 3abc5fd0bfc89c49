"""The lock of a run folder."""

import pytest

from mfbench.errors import RunError
from mfbench.run.store.file import REMNANT, locked


def test_a_second_process_is_refused_and_the_option_is_named(tmp_path):
    message = r"another mfbench is running in .*run; .* another folder with --into$"
    with locked(tmp_path / "run"), pytest.raises(RunError, match=message), locked(tmp_path / "run", "--into"):
        pass
    with locked(tmp_path / "run"):
        pass


def test_what_a_killed_merge_left_is_removed(tmp_path):
    remnant = tmp_path / f"{REMNANT}abc"
    remnant.mkdir()
    (remnant / "results.sqlite").write_text("half")
    with locked(tmp_path):
        assert not remnant.exists()


def test_a_folder_that_cannot_be_written_to(tmp_path):
    (tmp_path / "file").write_text("")
    message = r"^cannot write to .*; choose another folder with --out$"
    with pytest.raises(RunError, match=message), locked(tmp_path / "file" / "run"):
        pass
