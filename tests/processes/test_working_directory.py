"""A working directory that configures numba is refused before the first child process is started."""

import pytest

from mfbench.errors import UsageError
from mfbench.processes.call import call
from mfbench.processes.process import check_working_directory


def test_a_working_directory_that_configures_numba_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_working_directory()
    (tmp_path / ".numba_config.yaml").write_text("cache_dir: ./pickles\n")
    with pytest.raises(UsageError, match=r"contains \.numba_config\.yaml, which can change results"):
        check_working_directory()
    with pytest.raises(UsageError, match=r"contains \.numba_config\.yaml"):
        call("math:factorial", 5)
