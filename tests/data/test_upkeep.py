"""Importing into the cache, verifying it, and naming what to delete."""

import pytest

from mfbench.data.cache import DataOptions
from mfbench.data.lookup import DatasetStatus, Lookup, cached_keys, import_path, verify
from mfbench.errors import UnknownNameError, UsageError
from mfbench.host.registry import load_registry

CSV = "u,v,kind\n" + "".join(f"{i % 2},{i},{'ab'[i % 2]}\n" for i in range(12))


@pytest.fixture
def lookup(tmp_path):
    return Lookup(DataOptions(None, tmp_path / "cache", True))


def test_a_status_as_text():
    assert str(DatasetStatus("wine", "embedded")) == "wine: made by a plugin, nothing to fetch"
    assert str(DatasetStatus("a", "failed", "no network")) == "a: failed: no network"
    assert DatasetStatus("a", "failed").failed and not DatasetStatus("a", "cache").failed


def test_a_mirror_is_imported(lookup, write_mirror):
    assert [str(status) for status in import_path(write_mirror(), lookup)] == [
        "mirror:things: imported: 12 rows, 3 features"
    ]
    assert verify(lookup) == (1, {})


def test_a_file_gets_a_safe_name(lookup, tmp_path):
    (tmp_path / "my data.csv").write_text(CSV)
    (status,) = import_path(tmp_path / "my data.csv", lookup)
    assert status.name == "import:my-data"
    with pytest.raises(UsageError, match="write it like import:patients"):
        list(import_path(tmp_path / "my data.csv", lookup, name="../x"))


def test_options_of_a_file_are_not_for_a_mirror(lookup, write_mirror):
    with pytest.raises(UsageError, match="are for a file"):
        list(import_path(write_mirror(), lookup, target="kind"))


def test_damage_is_reported_and_can_be_named(lookup, write_mirror):
    folder = write_mirror()
    list(import_path(folder, lookup))
    (folder / "things.csv.gz").write_bytes(b"")
    (table,) = (lookup.cache.folder / "content").iterdir()
    table.write_bytes(b"")
    both = Lookup(DataOptions(folder, lookup.cache.folder, True))
    count, damaged = verify(both)
    assert count == 2 and set(damaged) == {"mirror:things", "mirror:things (mirror)"}
    registry = load_registry(only=[])
    assert cached_keys(["mirror:things"], registry, lookup.cache) == ["mirror:things"]
    with pytest.raises(UnknownNameError, match="unknown cached dataset 'things'"):
        cached_keys(["things"], registry, lookup.cache)
