"""Sockets and files of a block of code are noticed, in forked processes too, and the process is put back."""

import os
import socket
from pathlib import Path

import pytest

from mfbench_check.running import files_in, recorded_sockets, temporary_home, temporary_working_directory


def test_sockets_that_do_not_leave_the_machine_are_allowed():
    with recorded_sockets() as events:
        for end in socket.socketpair():
            end.close()
    assert not events


def test_names_of_hosts_are_recorded():
    with recorded_sockets() as events:
        socket.getaddrinfo("127.0.0.1", 80)
    assert events == ["socket.getaddrinfo"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked")
def test_sockets_of_a_forked_process_are_recorded():
    with recorded_sockets() as events:
        child = os.fork()
        if not child:
            socket.socket().close()
            os._exit(0)
        os.waitpid(child, 0)
    assert events == ["socket.__new__"]


def test_nothing_is_recorded_outside_the_block():
    with recorded_sockets() as events:
        pass
    socket.socket().close()
    assert not events


def test_the_home_folder_is_put_back(monkeypatch):
    monkeypatch.setenv("HOME", "/somewhere")
    monkeypatch.delenv("USERPROFILE", raising=False)
    with temporary_home() as folder:
        (Path.home() / "a").write_text("")
        assert files_in(folder) == ["a"]
    assert os.environ["HOME"] == "/somewhere"
    assert "USERPROFILE" not in os.environ
    assert not folder.exists()


def test_the_working_directory_is_put_back(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with temporary_working_directory() as folder:
        Path("results").mkdir()
        Path("results/a.txt").write_text("")
        assert files_in(folder) == ["results/a.txt"]
    assert Path.cwd() == tmp_path


def test_caches_beside_code_are_not_files_of_a_method(tmp_path):
    (tmp_path / "package" / "__pycache__").mkdir(parents=True)
    (tmp_path / "package" / "__pycache__" / "kernel.nbi").write_text("")
    assert files_in(tmp_path) == []
