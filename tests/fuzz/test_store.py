"""A damaged store: what is believed of it is what was stored, whatever was done to its file."""

import random
import shutil

import numpy as np
import pytest
from small_runs import SUITE, InProcess
from undisturbed import exactly_once, same_results

from mfbench.api import Request, load_run, prepare_suite
from mfbench.errors import MfbenchError
from mfbench.host.registry import load_registry
from mfbench.report.contents import report_of
from mfbench.report.progress import Silent
from mfbench.run import runner
from mfbench.run.runner import RunOptions, execute
from mfbench.run.store.file import FILE_NAME

PAGE = 4096


@pytest.fixture(scope="module", autouse=True)
def in_process():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "LocalPool", InProcess)
        yield


@pytest.fixture(scope="module")
def plan_and_run(tmp_path_factory):
    """A plan, the folder of its run, and the folder of a twin that is never damaged."""
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / "own.toml").write_text(SUITE)
    plan, run, registry = prepare_suite(Request(str(folder / "own.toml"), out=folder / "out"))
    execute(plan, run, registry, RunOptions(jobs=1), Silent())
    twin = folder / "twin"
    shutil.copytree(run, twin)
    return plan, run, twin


def damage(content, seed):
    """Return the bytes of a file with a damage that the seed selects."""
    rng, data = random.Random(seed), bytearray(content)
    kind = seed % 4
    if kind < 2:  # single bits or whole bytes
        for _ in range(rng.choice([1, 3, 30])):
            place = rng.randrange(len(data))
            data[place] ^= 1 << rng.randrange(8) if kind == 0 else rng.randrange(1, 256)
    elif kind == 2:
        page = PAGE * rng.randrange(len(data) // PAGE)
        data[page : page + PAGE] = bytes(PAGE)
    else:
        del data[rng.randrange(len(data)) :]
    return bytes(data)


def restore(run, twin, content):
    shutil.rmtree(run)
    shutil.copytree(twin, run)
    (run / FILE_NAME).write_bytes(content)


def equal(one, two):
    if isinstance(one, np.ndarray) or isinstance(two, np.ndarray):
        return np.array_equal(one, two, equal_nan=True)
    return one == two or (one != one and two != two)


def check_report(run, twin):
    """Read a damaged run; what it says is true, or it is an error that says what to do."""
    try:
        damaged = load_run(run)
        report_of(damaged)
    except MfbenchError as error:
        assert str(run) in str(error) and "\n" not in str(error), error
        return "refused"
    intact = load_run(twin)
    assert damaged.meta == intact.meta and damaged.left_out == intact.left_out
    assert [row["key"] for row in damaged._stored.rows] == [row["key"] for row in intact._stored.rows]
    believed = 0
    for row, true in zip(damaged._stored.rows, intact._stored.rows, strict=True):
        if row["status"] is not None:
            believed += 1
            assert all(equal(row[name], true[name]) for name in true), row["key"]
    complete = believed == len(intact._stored.rows)
    assert complete or damaged.n_pending
    return "complete" if complete else "partial"


def check_resume(plan, run, twin):
    """Start a damaged run again; it has the results of an undamaged run, or it is an error."""
    try:
        execute(plan, run, load_registry(), RunOptions(jobs=1), Silent())
    except MfbenchError as error:
        assert str(run) in str(error) and "\n" not in str(error), error
        return "refused"
    exactly_once(run)
    same_results(run, twin)
    return "resumed"


def attack(plan_and_run, seeds):
    plan, run, twin = plan_and_run
    content = (twin / FILE_NAME).read_bytes()
    outcomes = set()
    for seed in seeds:
        restore(run, twin, damage(content, seed))
        try:
            outcomes |= {check_report(run, twin), check_resume(plan, run, twin)}
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
    return outcomes


def test_nothing_false_is_believed(plan_and_run):
    assert attack(plan_and_run, range(20)) >= {"refused", "resumed"}


@pytest.mark.nightly(reason="600 damaged stores, each read and resumed")
def test_nothing_false_is_believed_of_many(plan_and_run):
    attack(plan_and_run, range(100, 700))
