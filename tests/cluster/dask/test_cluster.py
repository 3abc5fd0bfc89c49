"""Texts that name a scheduler, and sentences where there is none."""

import asyncio
import contextlib
import socket
import subprocess
import sys
import threading

import pytest

cluster_module = pytest.importorskip("mfbench_cluster.dask.cluster", reason="Dask is not installed")

from mfbench.errors import RunError, UsageError  # noqa: E402


def test_addresses_are_accepted(subtests):
    for scheduler in [
        "",
        "local",
        "tcp://10.0.0.1:8786",
        "tls://host:8786",
        "tcp://[::1]:8786",
        "inproc://10.0.0.1/77/1",
    ]:
        with subtests.test(scheduler=scheduler):
            cluster_module.check_scheduler(scheduler)


@pytest.mark.parametrize(
    "scheduler",
    [
        *("10.0.0.1:8786", "Local", "local:", "http://host:8786", "cluster", "tcp://", "tcp://host", "tcp://host:port"),
        *("tcp://host:0", "tcp://:8786", "tcp://[::1]", "TCP://host:8786"),
    ],
)
def test_other_texts_are_refused(scheduler):
    with pytest.raises(
        UsageError, match=r"is not an address of a Dask scheduler: write local, an address such as tcp://"
    ):
        cluster_module.check_scheduler(scheduler)


def test_a_scheduler_file_has_to_exist(tmp_path):
    path = tmp_path / "scheduler.json"
    with pytest.raises(UsageError, match=r"does not exist: start the scheduler with `dask scheduler --scheduler-file"):
        cluster_module.check_scheduler(str(path))
    path.write_text("{}")
    cluster_module.check_scheduler(str(path))


def test_a_file_of_something_else_is_refused_in_one_sentence(subtests, tmp_path):
    for content in ["{}", "no json", '{"address": 3}']:
        with subtests.test(content=content):
            path = tmp_path / "scheduler.json"
            path.write_text(content)
            with pytest.raises(RunError, match=r"cannot reach the Dask scheduler .*scheduler\.json: ") as caught:
                asyncio.run(cluster_module.connect(str(path)))
            assert "\n" not in str(caught.value)


def test_nobody_at_the_address(monkeypatch):
    monkeypatch.setattr(cluster_module, "_CONNECT", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    here, nowhere = f"tcp://127.0.0.1:{port}", "tcp://no-such-host.invalid:8786"
    for address, reason in ((here, "nothing listens at this address"), (nowhere, "its host name is not known")):
        with pytest.raises(
            RunError, match=f"^cannot reach the Dask scheduler {address}: ({reason}|there is no answer)$"
        ):
            asyncio.run(cluster_module.connect(address))


def test_somebody_else_at_the_address(monkeypatch):
    monkeypatch.setattr(cluster_module, "_CONNECT", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as server:  # it accepts, and never speaks
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(RunError, match=f"cannot reach the Dask scheduler {address}: there is no answer$"):
            asyncio.run(cluster_module.connect(address))


def test_a_server_of_something_else_at_the_address(monkeypatch):
    monkeypatch.setattr(cluster_module, "_CONNECT", 0.5)

    def hang_up(server):
        with contextlib.suppress(OSError):  # the end of the test
            while True:
                server.accept()[0].close()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=hang_up, args=(server,), daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        reasons = "(the connection was closed; is it a scheduler, of this version of Dask\\?|there is no answer)$"
        with pytest.raises(RunError, match=f"cannot reach the Dask scheduler {address}: {reasons}"):
            asyncio.run(cluster_module.connect(address))


def test_workers_do_not_run_the_main_script_again():
    from multiprocessing import spawn

    before = spawn.get_preparation_data
    with cluster_module._own_main():
        data = spawn.get_preparation_data("Dask Worker process (from Nanny)")
        assert {name: data[name] for name in data if "main" in name} == {
            "init_main_from_name": "mfbench_cluster.dask.worker_main"
        }
        assert spawn.get_preparation_data("another") == before("another")
    assert spawn.get_preparation_data is before


@pytest.mark.slow(reason="starts a cluster of processes")
def test_a_cluster_of_this_machine_is_reached_from_this_machine_alone(tmp_path):
    script = tmp_path / "script.py"  # no `if __name__ == "__main__"`: a script is run once
    script.write_text(
        "import psutil, warnings\n"
        "warnings.simplefilter('error')\n"
        "from mfbench_cluster.dask.engine import DaskEngine\n"
        "with DaskEngine('local', 2, 'builtins:bytes') as engine:\n"
        "    this = psutil.Process()\n"
        "    sockets = [s for p in [this, *this.children(recursive=True)] for s in p.net_connections()]\n"
        "    print({s.laddr.ip for s in sockets if s.status == 'LISTEN'}, len(engine.workers()))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("{'127.0.0.1'} 2\n", "")
