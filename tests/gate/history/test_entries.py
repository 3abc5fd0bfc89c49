"""The nouns of a history: what makes two machines the same kind, and two entries the same."""

import dataclasses

from mfbench.run.store.metadata import Environment
from mfbench_gate.history.storage import Machine


def environment(**changes):
    fields = {"mfbench": "1", "python": "3.11", "cpu": "X", "cpus": 4, "jobs": 1, "libraries": {}}
    return Environment(**{**fields, "system": "Linux-6.1.0-13-amd64-x86_64-with-glibc2.36", **changes})


def test_an_update_of_the_system_does_not_change_the_kind_of_machine():
    machine = Machine.of(environment())
    assert machine == Machine("X", 4, "Linux")
    assert machine == Machine.of(environment(system="Linux-6.9.0-1-amd64", python="3.13", memory_bytes=7))


def test_processor_their_number_and_the_system_do():
    machine = Machine.of(environment())
    others = [environment(cpu="Y"), environment(cpus=2), environment(system="macOS-14.5-arm64")]
    assert len({machine.id, *(Machine.of(other).id for other in others)}) == 4


def test_the_identity_of_an_entry_ignores_when_it_was_added(make_entry):
    entry = make_entry(1)
    assert dataclasses.replace(entry, added="2030-01-01T00:00:00+00:00", calibration=None).id == entry.id
    assert len({entry.id, make_entry(2).id, dataclasses.replace(entry, commit="f" * 40).id}) == 3


def test_an_unknown_system_has_a_name():
    assert str(Machine("X", 1, "")) == "X, 1 processor, unknown system"
