"""The array cache: each file once, verified, bounded, and kept while somebody uses it."""

import hashlib
import os

import pytest

from mfbench_cluster.array_cache import ArrayCache, ArrayCacheError


def content(number, size=1000):
    data = bytes([number]) * size
    return hashlib.sha256(data).hexdigest(), data


@pytest.fixture
def shared(tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    for number in range(4):
        name, data = content(number)
        (folder / name).write_bytes(data)
    return folder


def test_a_file_is_copied_from_the_shared_folder_once(tmp_path, shared):
    cache = ArrayCache(tmp_path / "cache")
    name, data = content(1)
    assert cache.lease(name) is None
    cache.fetch(name, shared).close()
    (shared / name).unlink()
    cache.fetch(name, shared).close()
    assert (cache.folder / name).read_bytes() == data


def test_what_is_not_what_its_name_says_is_not_taken(tmp_path, shared):
    cache = ArrayCache(tmp_path / "cache")
    name, _ = content(1)
    (shared / name).write_bytes(b"other")
    assert cache.fetch(name, shared) is None
    assert not (cache.folder / name).exists()
    assert cache.fetch(content(9)[0], tmp_path / "nowhere") is None


def test_pieces_become_a_file_whoever_sends_them(tmp_path):
    cache = ArrayCache(tmp_path)
    name, data = content(1)
    assert cache.append(name, 0, 1000, data[:400]) == (400, False)
    assert cache.append(name, 0, 1000, data[:400]) == (400, False)  # a second sender begins
    assert cache.append(name, 400, 1000, data[400:]) == (1000, True)
    assert cache.append(name, 400, 1000, data[400:]) == (1000, True)
    cache.lease(name).close()


def test_a_damaged_whole_begins_again(tmp_path):
    cache = ArrayCache(tmp_path)
    name, data = content(1)
    assert cache.append(name, 0, 1000, b"x" * 1000) == (0, False)
    assert cache.append(name, 0, 1000, data) == (1000, True)


def test_a_damaged_entry_is_removed(tmp_path, shared):
    cache = ArrayCache(tmp_path / "cache")
    name, data = content(1)
    cache.fetch(name, shared).close()
    (cache.folder / name).write_bytes(b"damaged")
    assert cache.lease(name) is None
    cache.fetch(name, shared).close()
    assert (cache.folder / name).read_bytes() == data


def test_the_oldest_goes_first_and_what_is_in_use_stays(tmp_path, shared):
    cache = ArrayCache(tmp_path / "cache", limit=2500)
    names = [content(number)[0] for number in range(4)]
    in_use = cache.fetch(names[0], shared)
    cache.fetch(names[1], shared).close()
    for age, name in enumerate(names[:2]):
        os.utime(cache.folder / name, (age, age))
    cache.fetch(names[2], shared).close()
    assert [(cache.folder / name).exists() for name in names] == [True, False, True, False]
    in_use.close()
    os.utime(cache.folder / names[0], (0, 0))
    cache.fetch(names[3], shared).close()
    assert [(cache.folder / name).exists() for name in names] == [False, False, True, True]


def test_a_full_disk_is_a_sentence_and_loses_nothing(tmp_path, monkeypatch):
    cache = ArrayCache(tmp_path)
    name, data = content(1)
    cache.append(name, 0, 1000, data[:400])
    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.open", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        with pytest.raises(ArrayCacheError, match=r"^arrays cannot be stored in .*: No space left on device; free"):
            cache.append(name, 400, 1000, data[400:])
    assert cache.append(name, 400, 1000, data[400:]) == (1000, True)


def test_a_name_in_a_message_cannot_leave_the_folder(tmp_path):
    with pytest.raises(ArrayCacheError, match="is not the name of an array file"):
        ArrayCache(tmp_path).append("../evil", 0, 1, b"x")


def test_the_folder_and_the_limit_come_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("MFBENCH_ARRAY_CACHE", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("MFBENCH_ARRAY_CACHE_GB", "0.5")
    cache = ArrayCache()
    assert (cache.folder, cache.limit) == (tmp_path / "elsewhere", 2**29)
    assert cache.identity() == ArrayCache(tmp_path / "elsewhere").identity() != ArrayCache(tmp_path).identity()
    monkeypatch.setenv("MFBENCH_ARRAY_CACHE_GB", "much")
    with pytest.raises(ArrayCacheError, match="MFBENCH_ARRAY_CACHE_GB is 'much', expected GiB"):
        ArrayCache()
