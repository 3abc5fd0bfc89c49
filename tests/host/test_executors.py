"""Executors by name: the engine, or one sentence that says what is wrong and what to do."""

from types import SimpleNamespace

import pytest

from mfbench import ExecutorSpec, hookimpl
from mfbench.engines import Engine, Executor
from mfbench.errors import PluginError, UnknownNameError, UsageError
from mfbench.host.discovery import PluginWarning
from mfbench.host.registry import check_executor, load_registry, make_engine


class Silent(Engine):
    def __init__(self, scheduler, jobs):
        self.asked = scheduler, jobs

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def workers(self):
        return {}

    def submit(self, ticket, payload, *, place="", avoid=()):
        pass

    def wait(self, seconds):
        return []

    def withdraw(self, tickets):
        pass


def registry_of(**fields):
    spec = ExecutorSpec(**{"name": "silent", "summary": "Answers nothing", "factory": Silent, **fields})
    module = SimpleNamespace(__name__="p", mfbench_executors=hookimpl(lambda: [spec]))
    return load_registry(only=[], extra=[("p", module)])


def needs_dask(scheduler, jobs):
    raise ModuleNotFoundError("No module named 'distributed'", name="distributed")


def test_the_engine_gets_the_address_and_the_number_of_workers():
    assert make_engine(registry_of(), "silent", "tcp://there:1", 3).asked == ("tcp://there:1", 3)
    assert list(registry_of().listed("executor")) == ["silent"]


def test_a_factory_may_make_an_executor():
    class Own(Executor):
        def start(self, job, budget=None, follow=None):
            pass

        submit = collect = close = start

    assert isinstance(make_engine(registry_of(factory=lambda *_: Own()), "silent", "", 1), Own)
    check_executor(registry_of(factory=lambda *_: Own()), "silent", "there")


def test_an_engine_that_cannot_be_made_is_one_sentence(subtests):
    for fields, sentence in [
        (
            {"factory": needs_dask, "install": "mfbench[dask]"},
            r"^executor 'silent' needs the package 'distributed': pip install 'mfbench\[dask\]'$",
        ),
        ({"factory": "no_such_module:Engine"}, r"^executor 'silent' needs the package 'no_such_module': see p$"),
        ({"factory": lambda *_: 3}, r"'silent' of p cannot be used: its factory returned 3, expected an mfbench"),
        ({"factory": lambda *_: 1 / 0}, r"cannot be used: ZeroDivisionError: division by zero$"),
    ]:
        with subtests.test(fields=fields, sentence=sentence), pytest.raises(PluginError, match=sentence):
            make_engine(registry_of(**fields), "silent", "", 1)


def test_names_and_addresses_are_checked_before_anything_runs():
    check_executor(registry_of(), "local", "")
    check_executor(registry_of(), "silent", "tcp://there:1")
    with pytest.raises(UnknownNameError, match=r"unknown executor 'silnt': did you mean 'silent'\? \(see 'mfbench pl"):
        check_executor(registry_of(), "silnt", "")
    with pytest.raises(UsageError, match="--scheduler there needs --executor"):
        check_executor(registry_of(), "local", "there")


def test_an_address_without_meaning_is_refused_before_anything_runs():
    def strict(scheduler, jobs):
        raise UsageError(f"{scheduler} is not an address")

    with pytest.raises(UsageError, match=r"^there is not an address$"):
        check_executor(registry_of(factory=strict), "silent", "there")


def test_nobody_else_registers_local():
    with pytest.warns(PluginWarning, match="executor 'local' is that of mfbench itself"):
        assert registry_of(name="local").listed("executor") == {}
