"""A worker: it runs trials in killable children of its own, in daemonic processes and in threads, or says why not."""

import multiprocessing
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from small_runs import job_of, results_of, started

from mfbench.run.store.metadata import VERSION, fingerprint_of, sources_of
from mfbench.run.workers.local import LocalPool
from mfbench_cluster import service as module
from mfbench_cluster.array_cache import ArrayCache
from mfbench_cluster.pool.messages import (
    Accepted,
    Answered,
    JobPackage,
    Missing,
    Refused,
    RunBatch,
    Withdrawn,
    WorkerMachine,
    packed,
    unpacked,
)
from mfbench_cluster.service import WorkerService

sys.path.insert(0, str(Path(__file__).parent / "executors"))
from fake import StubPool, answer_all


@pytest.fixture
def sent(prepared, tmp_path):
    """Return what a driver sends, the job and a batch of all trials; and what it is about."""
    plan, _, registry = prepared
    job = job_of(plan, tmp_path / "data", owners={})
    package = JobPackage.of(job, fingerprint_of(sources_of(plan, registry)))
    batch = RunBatch(package.name, job.files["iris"], str(tmp_path / "data"), tuple(plan.trials))
    return package, batch, job


def ask(service, message, is_wanted=lambda: True):
    return unpacked(service.answer(packed(message), 1, is_wanted))


def plain(result):
    """Return what a result says, without its times and its memory."""
    values = {name: getattr(result, name) for name in ("key", "status", "scores", "n_selected", "chosen")}
    return values | {name: getattr(result, name).tolist() for name in ("predictions",)}


@pytest.fixture
def stubbed(monkeypatch):
    monkeypatch.setattr(module, "LocalPool", StubPool)


class TestProtocol:
    def test_it_takes_the_job_and_runs_the_batch(self, sent, tmp_path, stubbed):
        package, batch, _ = sent
        service = WorkerService(ArrayCache(tmp_path / "cache"))
        missing = ask(service, batch)
        assert isinstance(missing, Missing) and missing.job
        assert ask(service, package) == Accepted(missing.machine)
        answered = ask(service, batch)
        assert isinstance(answered, Answered)
        assert [result.key for result in answered.results] == [trial.key for trial in batch.trials]

    def test_arrays_that_it_cannot_read_are_missing(self, sent, tmp_path, stubbed):
        package, batch, _ = sent
        service = WorkerService(ArrayCache(tmp_path / "cache"))
        ask(service, package)
        missing = ask(service, replace(batch, shared="/no/such/folder"))
        assert (missing.job, missing.arrays) == (False, batch.arrays)

    def test_another_version_or_other_code_is_refused(self, sent, tmp_path, stubbed, monkeypatch):
        package, batch, _ = sent
        other = replace(package.fingerprint, libraries={"numpy": "0.1"}, host="other")
        service = WorkerService(ArrayCache(tmp_path / "cache"))
        reasons = ask(service, replace(package, content=b"unread", fingerprint=other)).reasons
        assert reasons[0].startswith("mfbench ")
        assert reasons[0].endswith("with other code")
        assert reasons[1].endswith("instead of 0.1")
        assert ask(service, batch).job  # and so it runs nothing

    def test_a_job_comes_back_without_folders_and_paths(self, sent, tmp_path, stubbed):
        package, _, job = sent
        assert str(tmp_path).encode() not in package.content
        service = WorkerService(ArrayCache(tmp_path / "cache"))
        ask(service, package)
        (running,) = service._jobs.values()
        assert (running.job.methods, running.job.files, running.job.settings) == (job.methods, job.files, job.settings)
        assert (running.job.data_folder, running.job.path) == (tmp_path / "cache", ())

    def test_a_message_of_another_version_is_refused_whatever_is_in_it(self, tmp_path, monkeypatch):
        with monkeypatch.context() as patch:
            patch.setattr("mfbench_cluster.pool.messages.VERSION", "9.9")
            payload = packed(WorkerMachine("", "", ""))
        assert unpacked(WorkerService(ArrayCache(tmp_path)).answer(payload, 1, lambda: True)).reasons == (
            f"mfbench 9.9 instead of {VERSION}",
        )

    def test_an_installation_that_has_changed_is_refused(self, sent, tmp_path, monkeypatch):
        monkeypatch.setattr(module, "_HOST_AT_START", "another")
        refused = ask(WorkerService(ArrayCache(tmp_path)), sent[0])
        assert refused.reasons == ("mfbench was changed after this worker had started; restart it",)

    def test_a_folder_that_cannot_be_written_to_is_a_sentence(self, sent, tmp_path):
        (tmp_path / "file").touch()
        refused = ask(WorkerService(ArrayCache(tmp_path / "file" / "cache")), sent[0])
        assert isinstance(refused, Refused)
        assert refused.reasons[0].startswith("arrays cannot be stored in ")


class TestTrials:
    def test_the_results_are_those_of_the_local_pool(self, sent, tmp_path):
        package, batch, job = sent
        with started(LocalPool(1), replace(job, log=tmp_path / "log")) as pool:
            expected = {trial.key: plain(result) for trial, result in results_of(pool, batch.trials)}
        service = WorkerService(ArrayCache(tmp_path / "cache"))
        ask(service, package)
        answered = ask(service, batch)
        assert {result.key: plain(result) for result in answered.results} == expected
        again = ask(service, replace(batch, trials=batch.trials[:1]))  # by the same worker
        assert plain(again.results[0]) == expected[batch.trials[0].key]
        (running,) = service._jobs.values()
        assert len(running.idle) == 1
        assert running.job.memory_limit > 0
        service.close()
        assert not service._jobs

    def test_what_nobody_wants_any_more_is_ended(self, sent, tmp_path):
        package, batch, _ = sent
        service = WorkerService(ArrayCache(tmp_path / "cache"))
        ask(service, package)
        before = set(psutil.Process().children(recursive=True))
        assert ask(service, batch, lambda: False) == Withdrawn()
        (running,) = service._jobs.values()
        assert not running.idle
        left = [p for p in set(psutil.Process().children(recursive=True)) - before if p.pid != _server_pid()]
        assert not psutil.wait_procs(left, 10)[1]
        service.close()

    def test_pools_without_work_close_by_themselves(self, sent, tmp_path, stubbed):
        package, batch, _ = sent
        service = WorkerService(ArrayCache(tmp_path / "cache"), idle=0.02)
        ask(service, package)
        ask(service, batch)
        (running,) = service._jobs.values()
        end = time.monotonic() + 30
        while running.idle and time.monotonic() < end:
            time.sleep(0.01)
        assert not running.idle


def _server_pid():
    from mfbench.processes import monitor as server

    return server._server.process.pid


class TestThreads:
    def test_calls_at_once_have_a_pool_each(self, sent, tmp_path, monkeypatch):
        package, batch, _ = sent
        at_once = threading.Barrier(3)

        class Meeting(StubPool):
            def collect(self):
                at_once.wait(30)
                yield from super().collect()

        monkeypatch.setattr(module, "LocalPool", Meeting)
        service = WorkerService(ArrayCache(tmp_path / "cache"))
        ask(service, package)
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(ask(service, batch))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [type(one) for one in answers] == [Answered] * 3
        (running,) = service._jobs.values()
        assert len({id(pool) for _, pool in running.idle}) == 3


@pytest.mark.slow(reason="processes that start workers of their own")
@pytest.mark.parametrize("start", ["spawn", "fork"])
def test_a_worker_may_be_a_daemonic_process(sent, tmp_path, monkeypatch, start):
    monkeypatch.setenv("MFBENCH_ARRAY_CACHE", str(tmp_path / "cache"))
    package, batch, _ = sent
    ours, theirs = multiprocessing.Pipe()
    context = multiprocessing.get_context(start)
    payloads = [packed(package), packed(replace(batch, trials=batch.trials[:2]))]
    process = context.Process(target=answer_all, args=(theirs, payloads), daemon=True)
    process.start()
    theirs.close()
    answered = unpacked(ours.recv()[1])
    process.join()
    assert [result.status for result in answered.results] == ["ok"] * 2
