"""TLS with certificates of one's own, configured as Dask has it: the connection of driver, scheduler and worker."""

import shutil
import subprocess
import sys

import pytest

pytest.importorskip("distributed", reason="Dask is not installed")

from dask_clusters import Processes

DRIVER = """
import sys
from mfbench_cluster.dask.engine import DaskEngine
from mfbench.errors import RunError
try:
    with DaskEngine(sys.argv[1], target="builtins:bytes") as engine:
        while not engine.workers(): engine.wait(0.1)
        engine.submit(1, b"secret")
        outcomes = []
        while not outcomes: outcomes = engine.wait(1)
        print(outcomes[0].answer, outcomes[0].worker[:6])
except RunError as error:
    print(error)
"""


def openssl(*words, folder):
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


@pytest.mark.slow(reason="starts a scheduler, a worker and two drivers")
@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_a_driver_with_a_certificate_is_served_and_one_without_is_not(tmp_path):
    authority = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=authority")
    openssl(*authority, "-keyout", "ca.key", "-out", "ca.pem", folder=tmp_path)
    openssl(
        "req",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-subj",
        "/CN=node",
        "-keyout",
        "node.key",
        "-out",
        "node.csr",
        folder=tmp_path,
    )
    signed = ("x509", "-req", "-in", "node.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2")
    openssl(*signed, "-out", "node.pem", folder=tmp_path)
    node = "{cert: node.pem, key: node.key}".replace("node", str(tmp_path / "node"))
    lines = [f"{name}: {node}" for name in ("scheduler", "worker", "client")]
    tls = ["require-encryption: true", "tls:", f"  ca-file: {tmp_path / 'ca.pem'}", *(f"  {line}" for line in lines)]
    (tmp_path / "distributed.yaml").write_text("distributed:\n  comm:\n" + "".join(f"    {line}\n" for line in tls))

    with Processes(tmp_path, DASK_CONFIG=str(tmp_path)) as processes:
        processes.start_scheduler("--protocol", "tls")
        address = processes.address.replace("tcp:", "tls:")
        processes.start_worker("--no-nanny", address=address)

        def drive(environ):
            command = [sys.executable, "-c", DRIVER, address]
            return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=120).stdout

        assert drive(processes.environ) == "b'secret' tls://\n"
        without = drive({name: value for name, value in processes.environ.items() if name != "DASK_CONFIG"})
        assert without.startswith(f"cannot reach the Dask scheduler {address}: ")
        assert without.count("\n") == 1
