"""Faults of Dask clusters. After each, a resume gives the results of an undisturbed run, every trial exactly once."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

pytest.importorskip("distributed", reason="Dask is not installed")

from dask_clusters import Network, Processes, end_tree, stop, threaded_cluster, until, worker_below
from undisturbed import exactly_once, same_results, stored_trials

import mfbench
from mfbench.report.progress import Silent

REPEATS = 10
TRIALS = 2 * 3 * REPEATS
SUITE = """
[suite]
name = "own"
[protocol]
folds = 3
repeats = {repeats}
[profiles.quick]
folds = 3
repeats = {repeats}
[[datasets]]
use = ["iris"]
[[methods]]
label = "A"
selector = "variance"
classifier = "{classifier}"
[[methods]]
label = "B"
classifier = "{classifier}"
"""
PLUGIN = """
import time
from mfbench import ClassifierSpec, hookimpl
from sklearn.naive_bayes import GaussianNB

class Slow(GaussianNB):
    def fit(self, X, y):
        time.sleep({seconds})
        return super().fit(X, y)

@hookimpl
def mfbench_classifiers():
    return [ClassifierSpec(name="slow", summary="", factory="slow_plugin:Slow")]
"""
nightly = pytest.mark.nightly(reason="starts a scheduler, workers and commands")


def write(folder, classifier="naive-bayes", repeats=REPEATS, seconds=0.1):
    (folder / "slow_plugin.py").write_text(PLUGIN.format(seconds=seconds))
    (folder / "own.toml").write_text(SUITE.format(repeats=repeats, classifier=classifier))
    return folder / "own.toml"


# -- in this process: quick ----------------------------------------------------------------------------------------


def test_results_are_those_of_the_local_executor_though_a_worker_is_lost(tmp_path):
    suite = write(tmp_path, repeats=3)
    local = mfbench.run_suite(str(suite), out=tmp_path / "local", jobs=1)
    lost = []

    class Watch(Silent):
        def finished(self, trial, result):
            if not lost:
                lost.append(cluster.workers.pop(0))
                cluster.sync(lost[0].close, executor_wait=False)

    with threaded_cluster() as cluster:
        options = {"executor": "dask", "scheduler": cluster.scheduler_address, "out": tmp_path / "dask"}
        run = mfbench.run_suite(str(suite), observer=Watch(), **options)
    assert lost
    exactly_once(run.path)
    same_results(run.path, local.path)


# -- processes that are killed: nightly -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The folder of the suite and the run of the local executor."""
    folder = tmp_path_factory.mktemp("undisturbed")
    write(folder, "slow")
    command = Command(folder, folder / "local", "local")
    assert command.finish() == 0
    return folder, command.run


class Command:
    """A process of `mfbench suite`.

    Parameters
    ----------
    folder : Path
        Of the suite and the plugin.
    out : Path
    *options : str
        Executor and scheduler.
    """

    def __init__(self, folder, out, executor, *options):
        self.out = out
        out.mkdir(exist_ok=True)
        self.log = out / "command.log"
        arguments = ["suite", str(folder / "own.toml"), "--out", str(out), "--executor", executor, "--jobs", "2"]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "mfbench", *arguments, *options, "--no-page"],
                env={**os.environ, **variables(folder)},
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
                preexec_fn=_obey,
            )

    @property
    def run(self):
        return next((path.parent for path in self.out.rglob("results.sqlite")), self.out)

    def reach(self, number):
        """Wait until that many trials are stored."""
        until(lambda: stored_trials(self.run) >= number or self.process.poll() is not None, 120)
        assert self.process.poll() is None, self.errors

    def finish(self, patience=300):
        return self.process.wait(patience)

    @property
    def errors(self):
        return self.log.read_text()


def _obey():
    """Undo what a shell does to commands in the background: they ignore Ctrl-C, and so would their children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def variables(folder):
    return {"PYTHONPATH": str(folder), "MFBENCH_LOAD_PLUGINS": "all,slow_plugin"}


@pytest.fixture
def processes(undisturbed, tmp_path):
    with Processes(tmp_path, **variables(undisturbed[0])) as processes:
        processes.start_scheduler()
        yield processes


@pytest.fixture
def begin(undisturbed, tmp_path):
    """Return a function that starts the command; it is killed in the end."""
    commands = []

    def start(*options):
        commands.append(Command(undisturbed[0], tmp_path / "dask", "dask", *options))
        return commands[-1]

    yield start
    for command in commands:
        end_tree(command.process.pid)
        command.process.wait()


def complete(command, undisturbed):
    assert command.finish() == 0, command.errors
    assert "Traceback" not in command.errors
    exactly_once(command.run)
    same_results(command.run, undisturbed[1])


@nightly
@pytest.mark.parametrize("daemon", ["true", "false"])
def test_a_killed_worker_of_a_nanny_whatever_its_kind(undisturbed, processes, begin, daemon):
    processes.environ["DASK_DISTRIBUTED__WORKER__DAEMON"] = daemon
    first, _ = processes.start_worker(), processes.start_worker()
    command = begin("--scheduler", processes.address)
    command.reach(5)
    below = psutil.Process(first.pid).children(recursive=True)
    worker_below(first).kill()
    complete(command, undisturbed)
    below = [process for process in below if "resource_tracker" not in " ".join(words(process))]
    assert not psutil.wait_procs(below, timeout=20)[1]


@nightly
def test_a_killed_nanny_and_a_worker_without_one(undisturbed, processes, begin):
    nanny, single = processes.start_worker(), processes.start_worker("--no-nanny")
    command = begin("--scheduler", processes.address)
    command.reach(5)
    nanny.kill()
    command.reach(15)
    processes.start_worker()
    single.kill()
    complete(command, undisturbed)


@nightly
def test_a_worker_that_hangs(undisturbed, processes, begin):
    nanny, _ = processes.start_worker(), processes.start_worker()
    command = begin("--scheduler", processes.address)
    command.reach(5)
    stop(worker_below(nanny))  # the scheduler gives it up after `worker-ttl`
    complete(command, undisturbed)


@nightly
def test_the_network_between_scheduler_and_worker_is_cut(undisturbed, processes, begin):
    with Network(processes.port) as network:
        processes.start_worker("--no-nanny", address=network.address)
        processes.start_worker("--no-nanny")
        command = begin("--scheduler", processes.address)
        command.reach(5)
        network.cut()
        complete(command, undisturbed)


@nightly
@pytest.mark.parametrize("how", ["drop", "freeze"])
def test_the_network_between_driver_and_scheduler_fails_for_a_moment(undisturbed, processes, begin, how):
    with Network(processes.port) as network:
        processes.start_worker()
        command = begin("--scheduler", network.address)
        command.reach(5)
        getattr(network, how)()
        time.sleep(3)
        network.mend()
        complete(command, undisturbed)


@nightly
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_the_end_of_the_driver_leaves_workers_that_serve_the_resume(undisturbed, processes, begin, number):
    worker = processes.start_worker()
    command = begin("--scheduler", processes.address)
    command.reach(5)
    command.process.send_signal(number)
    assert command.finish(30) in ((-9,) if number == signal.SIGKILL else (130, 143))
    assert "Traceback" not in command.errors
    assert 5 <= stored_trials(command.run) < TRIALS
    complete(begin("--scheduler", processes.address), undisturbed)
    assert worker.poll() is None


@nightly
@pytest.mark.parametrize("number", [None, signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_of_a_cluster_of_this_machine(undisturbed, begin, number):
    command = begin("--scheduler", "local")
    command.reach(5)
    below = psutil.Process(command.process.pid).children(recursive=True)
    assert len(below) >= 4
    if number is not None:
        os.killpg(command.process.pid, number)  # as Ctrl-C does
        assert command.finish(30) in ((-9,) if number == signal.SIGKILL else (130, 143))
        assert not psutil.wait_procs(below, timeout=20)[1]
        assert "distributed" not in command.errors
        assert "Traceback" not in command.errors
        command = begin("--scheduler", "local")
    complete(command, undisturbed)
    noise = [line for line in command.errors.splitlines() if "has answered yet" not in line]  # a busy machine is slow
    assert not noise
    assert not psutil.wait_procs(below, timeout=20)[1]


@nightly
def test_a_killed_scheduler_ends_the_run_or_comes_back(undisturbed, processes, begin):
    processes.start_worker("--no-nanny")
    command = begin("--scheduler", processes.address)
    command.reach(5)
    processes.scheduler.kill()
    processes.scheduler.wait()
    processes.start_scheduler()
    processes.start_worker("--no-nanny")
    complete(command, undisturbed)


@nightly
def test_everything_is_killed_at_once(undisturbed, processes, begin):
    processes.start_worker()
    command = begin("--scheduler", processes.address)
    command.reach(5)
    for process in [command.process, *processes.started]:
        process.kill()
    for process in processes.started:
        process.wait()
    processes.start_scheduler()
    processes.start_worker()
    complete(begin("--scheduler", processes.address), undisturbed)


@nightly
def test_a_worker_without_mfbench_is_named_and_the_others_work(undisturbed, processes, begin, tmp_path):
    (tmp_path / "without.py").write_text(
        "import sys, importlib.abc\n"
        "class Hide(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in ('mfbench', 'mfbench_cluster.dask'):\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Hide())\n"
    )
    processes.start_worker("--no-nanny", "--preload", str(tmp_path / "without.py"))
    processes.start_worker("--no-nanny")
    command = begin("--scheduler", processes.address)
    assert command.finish() == 0, command.errors
    assert "cannot import mfbench (ModuleNotFoundError: No module named 'mfbench" in command.errors
    exactly_once(command.run)
    same_results(command.run, undisturbed[1])


@nightly
def test_a_worker_is_killed_again_and_again(undisturbed, processes, begin):
    nannies = [processes.start_worker(), processes.start_worker()]
    command = begin("--scheduler", processes.address)
    for number in range(5, TRIALS - 10, 10):
        until(lambda number=number: stored_trials(command.run) >= number or command.process.poll() is not None, 120)
        nannies.append(nannies.pop(0))
        worker_below(nannies[0]).kill()
    complete(command, undisturbed)


def words(process):
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []
