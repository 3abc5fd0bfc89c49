"""Entries in and out of a history: nothing twice, in any order, from several processes."""

import dataclasses
import multiprocessing
import os

import pytest

from mfbench_gate.history.storage import Addition, Machine, add_entries, read_entries


def test_an_entry_comes_back_as_it_went_in(tmp_path, make_entry):
    entry = make_entry(3, {("A", "iris"): 0.5, ("B", "wine"): 0.25}, measured={"memory": None, "size": "n=5, p=2"})
    assert add_entries(tmp_path / "h", [entry]) == Addition(n_runs=1, n_measurements=2)
    assert read_entries(tmp_path / "h") == [entry]
    without = make_entry(4, kernels=None, commit_time=None)
    add_entries(tmp_path / "h", [without])
    assert read_entries(tmp_path / "h")[1] == without


def test_sizes_are_sorted_by_their_numbers(tmp_path, make_entry):
    measurement = make_entry(0).measurements[0]
    sizes = ["n=50, p=2", "n=100, p=2", "n=100, p=10"]
    measurements = tuple(dataclasses.replace(measurement, size=size, digest=size) for size in reversed(sizes))
    add_entries(tmp_path / "h", [make_entry(0, measurements=measurements)])
    assert [one.size for one in read_entries(tmp_path / "h")[0].measurements] == sizes


def test_the_same_run_twice_changes_nothing(tmp_path, make_entry):
    path, entry = tmp_path / "h", make_entry(3)
    add_entries(path, [entry])
    later = dataclasses.replace(entry, added="2027-01-01T00:00:00+00:00", calibration=None)
    assert add_entries(path, [later]) == Addition(n_stored=1, commits=(entry.commit,))
    assert read_entries(path) == [entry]


def test_results_that_a_run_reuses_stay_with_their_commit(tmp_path, make_entry):
    path, first = tmp_path / "h", make_entry(1, {("A", "iris"): 1.0, ("B", "iris"): 1.0})
    second = make_entry(2)
    second = dataclasses.replace(second, measurements=(first.measurements[1], *second.measurements))
    add_entries(path, [first])
    assert add_entries(path, [second]) == Addition(1, 1, 1, (first.commit,))
    assert [[one.method for one in entry.measurements] for entry in read_entries(path)] == [["A", "B"], ["A"]]


def test_entries_come_in_the_order_of_their_commits(tmp_path, make_entry):
    unknown = make_entry(9, commit_time=None, added="2026-01-01T00:01:30+00:00")
    entries = [make_entry(2), make_entry(1), unknown, make_entry(0)]
    add_entries(tmp_path / "h", entries)
    assert [int(entry.commit[:7]) for entry in read_entries(tmp_path / "h")] == [0, 1, 9, 2]


def test_merging_is_idempotent_and_order_does_not_matter(tmp_path, make_entry):
    shared, own = make_entry(1), make_entry(2, machine=Machine("another", 8, "Linux"))
    add_entries(tmp_path / "a", [make_entry(0), shared])
    add_entries(tmp_path / "b", [shared, own])
    for target, order in (("ab", "ab"), ("ba", "ba")):
        for name in (*order, *order):
            add_entries(tmp_path / target, read_entries(tmp_path / name))
    assert read_entries(tmp_path / "ab") == read_entries(tmp_path / "ba")
    assert [int(entry.commit[:7]) for entry in read_entries(tmp_path / "ab")] == [0, 1, 2]
    add_entries(tmp_path / "a", read_entries(tmp_path / "a"))
    assert len(read_entries(tmp_path / "a")) == 2


def _write(path, entries, barrier):
    barrier.wait()
    for entry in entries:
        add_entries(path, [entry])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the writers are forked")
def test_two_processes_write_at_the_same_time(tmp_path, make_entry):
    path, shared = tmp_path / "h", [make_entry(k) for k in range(10)]
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(2)
    own = [[make_entry(100 + k) for k in range(10)], [make_entry(200 + k) for k in range(10)]]
    processes = [context.Process(target=_write, args=(path, [*shared, *entries], barrier)) for entries in own]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0]
    assert {entry.commit for entry in read_entries(path)} == {entry.commit for entry in [*shared, *own[0], *own[1]]}
    assert len(read_entries(path)) == 30
