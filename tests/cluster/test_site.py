"""A place: it runs trials in killable children of its own, in daemonic processes and in threads, or says why not."""

import multiprocessing
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from small_runs import job_of, results_of, started

from mfbench.run.fingerprint import VERSION, fingerprint_of, sources_of
from mfbench.run.workers.array_cache import ArrayCache
from mfbench.run.workers.local import LocalPool
from mfbench_cluster import site as module
from mfbench_cluster.parcel import wrapped
from mfbench_cluster.pool.messages import (
    Answered,
    Batch,
    Deliver,
    Introduce,
    Introduction,
    Machine,
    Missing,
    Refused,
    Unable,
    Withdrawn,
    packed,
    unpacked,
)
from mfbench_cluster.site import Site

sys.path.insert(0, str(Path(__file__).parent / "executors"))
from fake import StubPool, answer_all


@pytest.fixture
def sent(prepared, tmp_path):
    """Return what a driver sends: the introduction, the job, a batch of all trials; and what it is about."""
    plan, _, registry = prepared
    job = job_of(plan, tmp_path / "data", owners={})
    fingerprint = fingerprint_of(sources_of(plan, registry))
    name, blob = wrapped(job, fingerprint)
    batch = Batch(name, job.files["iris"], str(tmp_path / "data"), tuple(plan.trials))
    return Introduce(fingerprint), Deliver(name, 0, len(blob), blob, True), batch, job


def ask(site, message, is_wanted=lambda: True):
    return unpacked(site.answer(packed(message), 1, is_wanted))


def plain(result):
    """Return what a result says, without its times and its memory."""
    values = {name: getattr(result, name) for name in ("key", "status", "scores", "n_selected", "chosen")}
    return values | {name: getattr(result, name).tolist() for name in ("predictions",)}


@pytest.fixture
def stubbed(monkeypatch):
    monkeypatch.setattr(module, "LocalPool", StubPool)


class TestProtocol:
    def test_it_introduces_itself_takes_the_job_and_runs_the_batch(self, sent, tmp_path, stubbed):
        introduce, deliver, batch, _ = sent
        site = Site(ArrayCache(tmp_path / "cache"))
        introduction = ask(site, introduce)
        assert isinstance(introduction, Introduction)
        assert ask(site, batch) == Missing(True, (), introduction.machine)
        assert ask(site, deliver).is_complete
        answered = ask(site, batch)
        assert isinstance(answered, Answered)
        assert [result.key for result in answered.results] == [trial.key for trial in batch.trials]

    def test_arrays_that_it_cannot_read_are_missing(self, sent, tmp_path, stubbed):
        _, deliver, batch, _ = sent
        site = Site(ArrayCache(tmp_path / "cache"))
        ask(site, deliver)
        missing = ask(site, replace(batch, shared="/no/such/folder"))
        assert (missing.job, missing.arrays) == (False, batch.arrays)

    def test_another_version_or_other_code_is_refused(self, sent, tmp_path, stubbed, monkeypatch):
        introduce, deliver, batch, job = sent
        other = replace(introduce.fingerprint, libraries={"numpy": "0.1"}, host="other")
        site = Site(ArrayCache(tmp_path / "cache"))
        reasons = ask(site, Introduce(other)).reasons
        assert reasons[0].startswith("mfbench ")
        assert reasons[0].endswith("with other code")
        assert reasons[1].endswith("instead of 0.1")
        name, blob = wrapped(job, other)
        assert isinstance(ask(site, replace(deliver, name=name, total=len(blob), data=blob)), Refused)
        assert ask(site, replace(batch, job=name)).job  # and so it runs nothing

    def test_a_message_of_another_version_is_refused_whatever_is_in_it(self, tmp_path, monkeypatch):
        with monkeypatch.context() as patch:
            patch.setattr("mfbench_cluster.pool.messages.VERSION", "9.9")
            payload = packed(Machine("", "", ""))
        assert unpacked(Site(ArrayCache(tmp_path)).answer(payload, 1, lambda: True)).reasons == (
            f"mfbench 9.9 instead of {VERSION}",
        )

    def test_an_installation_that_has_changed_is_refused(self, sent, tmp_path, monkeypatch):
        monkeypatch.setattr(module, "_HOST_AT_START", "another")
        refused = ask(Site(ArrayCache(tmp_path)), sent[0])
        assert refused.reasons == ("mfbench was changed after this place had started; restart it",)

    def test_a_folder_that_cannot_be_written_to_is_a_sentence(self, sent, tmp_path):
        (tmp_path / "file").touch()
        unable = ask(Site(ArrayCache(tmp_path / "file" / "cache")), sent[0])
        assert isinstance(unable, Unable)
        assert unable.reason.startswith("arrays cannot be stored in ")


class TestTrials:
    def test_the_results_are_those_of_the_local_pool(self, sent, tmp_path):
        _, deliver, batch, job = sent
        with started(LocalPool(1), replace(job, log=tmp_path / "log")) as pool:
            expected = {trial.key: plain(result) for trial, result in results_of(pool, batch.trials)}
        site = Site(ArrayCache(tmp_path / "cache"))
        ask(site, deliver)
        answered = ask(site, batch)
        assert {result.key: plain(result) for result in answered.results} == expected
        again = ask(site, replace(batch, trials=batch.trials[:1]))  # by the same worker
        assert plain(again.results[0]) == expected[batch.trials[0].key]
        (running,) = site._jobs.values()
        assert len(running.idle) == 1
        assert running.job.memory_limit > 0
        site.close()
        assert not site._jobs

    def test_what_nobody_wants_any_more_is_ended(self, sent, tmp_path):
        _, deliver, batch, _ = sent
        site = Site(ArrayCache(tmp_path / "cache"))
        ask(site, deliver)
        before = set(psutil.Process().children(recursive=True))
        assert ask(site, batch, lambda: False) == Withdrawn()
        (running,) = site._jobs.values()
        assert not running.idle
        left = [p for p in set(psutil.Process().children(recursive=True)) - before if p.pid != _server_pid()]
        assert not psutil.wait_procs(left, 10)[1]
        site.close()

    def test_pools_without_work_close_by_themselves(self, sent, tmp_path, stubbed):
        _, deliver, batch, _ = sent
        site = Site(ArrayCache(tmp_path / "cache"), idle=0.02)
        ask(site, deliver)
        ask(site, batch)
        (running,) = site._jobs.values()
        end = time.monotonic() + 30
        while running.idle and time.monotonic() < end:
            time.sleep(0.01)
        assert not running.idle


def _server_pid():
    from mfbench.processes import server

    return server._server.process.pid


class TestThreads:
    def test_calls_at_once_have_a_pool_each(self, sent, tmp_path, monkeypatch):
        _, deliver, batch, _ = sent
        at_once = threading.Barrier(3)

        class Meeting(StubPool):
            def collect(self):
                at_once.wait(30)
                yield from super().collect()

        monkeypatch.setattr(module, "LocalPool", Meeting)
        site = Site(ArrayCache(tmp_path / "cache"))
        ask(site, deliver)
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(ask(site, batch))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [type(one) for one in answers] == [Answered] * 3
        (running,) = site._jobs.values()
        assert len({id(pool) for _, pool in running.idle}) == 3


@pytest.mark.slow(reason="processes that start workers of their own")
@pytest.mark.parametrize("start", ["spawn", "fork"])
def test_a_place_may_be_a_daemonic_process(sent, tmp_path, monkeypatch, start):
    monkeypatch.setenv("MFBENCH_ARRAY_CACHE", str(tmp_path / "cache"))
    _, deliver, batch, _ = sent
    ours, theirs = multiprocessing.Pipe()
    context = multiprocessing.get_context(start)
    payloads = [packed(deliver), packed(replace(batch, trials=batch.trials[:2]))]
    process = context.Process(target=answer_all, args=(theirs, payloads), daemon=True)
    process.start()
    theirs.close()
    answered = unpacked(ours.recv()[1])
    process.join()
    assert [result.status for result in answered.results] == ["ok"] * 2
