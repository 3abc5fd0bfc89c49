"""The cache: what comes out is what went in, and nothing that was damaged or half written ever comes out."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import warnings
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mfbench import Dataset
from mfbench.data.cache import Cache, CacheWarning, read_card, stem_of, write_card
from mfbench.data.files import from_parquet, to_parquet
from mfbench.data.lookup import content_hash
from mfbench.errors import DataError

KEY = "openml:61"


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache")


def same(a, b):
    """Tell whether two datasets are equal to the bit."""
    for item in fields(Dataset):
        one, other = getattr(a, item.name), getattr(b, item.name)
        if isinstance(one, np.ndarray):
            assert one.dtype == other.dtype and one.shape == other.shape, item.name
            assert np.ascontiguousarray(one).tobytes() == np.ascontiguousarray(other).tobytes(), item.name
        else:
            assert one == other, item.name
    return True


def the(cache, kind):
    """Return the one file of a folder of the cache."""
    (path,) = (cache.folder / kind).iterdir()
    return path


class TestRoundTrip:
    def test_to_the_bit(self, cache, dataset):
        assert cache.get(KEY) is None
        cache.put(KEY, dataset, {"url": "https://example.org", "checksum": "0"})
        found, card = cache.get(KEY)
        assert same(found, dataset)
        assert card == {"url": "https://example.org", "checksum": "0"}
        assert content_hash(found) == content_hash(dataset)
        assert found.X.flags.c_contiguous and found.X.flags.writeable and found.y.flags.writeable

    def test_bare_datasets(self, cache, dataset):
        bare = replace(dataset, categories={}, X=np.asfortranarray(dataset.X))
        cache.put(KEY, bare, {})
        assert same(cache.get(KEY)[0], bare)

    @settings(deadline=None, max_examples=40)
    @given(
        hnp.arrays(np.uint64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.integers(0, 2**64 - 1)),
        st.data(),
    )
    def test_any_bits_any_names(self, bits, data):
        n, p = bits.shape
        texts = st.text(max_size=5)
        raw = Dataset(
            name=data.draw(texts),
            X=bits.view(np.float64),
            y=np.zeros(n, np.int64),
            class_names=tuple(data.draw(st.lists(texts, min_size=2, max_size=3))),
            feature_names=tuple(data.draw(st.lists(texts, min_size=p, max_size=p))),
            categorical=np.array(data.draw(st.lists(st.booleans(), min_size=p, max_size=p))),
        )
        table, described = to_parquet(raw)
        assert same(from_parquet(table, json.loads(json.dumps(described))), raw)

    def test_a_later_put_replaces(self, cache, dataset):
        cache.put(KEY, dataset, {})
        cache.put(KEY, replace(dataset, y=1 - dataset.y), {})
        assert cache.get(KEY)[0].y.tolist() == [0, 1, 0, 1]


class TestNames:
    NASTY = (
        "../../x",
        "/etc/passwd",
        "a/b",
        "a\\b",
        "..",
        "",
        "CON",
        "a" * 5000,
        "openml:61",
        "OPENML:61",
        "\udc80",
        "é\0",
    )

    def test_nothing_leaves_the_folder(self, cache, dataset, tmp_path):
        for key in self.NASTY:
            cache.put(key, dataset, {"key": key.encode("ascii", "backslashreplace").decode()})
        assert set(cache.entries()) == set(self.NASTY)
        assert list(tmp_path.iterdir()) == [cache.folder]
        assert {path.name for path in cache.folder.iterdir()} == {"cards", "content", "locks"}
        assert len(list((cache.folder / "cards").iterdir())) == len(self.NASTY)

    @given(st.text(), st.text())
    def test_file_names(self, one, other):
        assert set(stem_of(one)) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
        assert 16 <= len(stem_of(one)) <= 57
        assert (stem_of(one) == stem_of(other)) == (one == other)


class TestDamage:
    def damage_table(self, cache):
        path = the(cache, "content")
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)

    def damage_card(self, cache):
        path = the(cache, "cards")
        path.write_text(path.read_text().replace('"CC0"', '"MIT"'))

    def truncate_table(self, cache):
        path = the(cache, "content")
        path.write_bytes(path.read_bytes()[:-20])

    def truncate_card(self, cache):
        path = the(cache, "cards")
        path.write_bytes(path.read_bytes()[:50])

    def remove_table(self, cache):
        the(cache, "content").unlink()

    def empty_card(self, cache):
        the(cache, "cards").write_text("[]")

    WAYS = (damage_table, damage_card, truncate_table, truncate_card, remove_table, empty_card)

    @pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
    def test_damage_is_refused_with_the_reason_and_fetched_again(self, cache, dataset, way):
        cache.put(KEY, dataset, {})
        way(self, cache)
        with pytest.raises(DataError, match=r"'openml:61' is damaged: its (table|card)") as caught:
            cache.get(KEY)
        assert "\n" not in str(caught.value)
        assert len(cache.verify()) == 1
        with pytest.warns(CacheWarning, match="it is fetched again"):
            found, _ = cache.fetch(KEY, lambda: (dataset, {}))
        assert same(found, dataset)
        assert cache.verify() == {}
        assert same(cache.get(KEY)[0], dataset)

    def test_listing_passes_over_it(self, cache, dataset):
        cache.put(KEY, dataset, {})
        cache.put("other", dataset, {})
        path = cache.folder / "cards" / f"{stem_of(KEY)}.json"
        path.write_text("nonsense")
        ((key, facts),) = cache.entries().items()
        assert (key, facts["n_samples"], facts["missing"]) == ("other", 4, 2)
        assert facts["class_counts"] == {"no\n": 2, "yes ✓": 2}
        assert set(cache.clear()) == {"other", path.name}
        assert not list(cache.folder.glob("c*/*"))


def test_a_card_comes_back(tmp_path):
    path = tmp_path / "cards" / f"{stem_of('openml:61')}.json"
    write_card(path, {"key": "openml:61", "facts": {"n_samples": 3}})
    assert read_card(path, "openml:61")["facts"] == {"n_samples": 3}


def test_an_edited_card_is_refused(tmp_path):
    path = tmp_path / f"{stem_of('openml:61')}.json"
    write_card(path, {"key": "openml:61"})
    card = json.loads(path.read_text())
    path.write_text(json.dumps({**card, "key": "openml:62"}))
    with pytest.raises(DataError, match="does not match its checksum"):
        read_card(path, "openml:61")


def test_a_card_that_cannot_be_read_can_be_cleared_by_its_file(tmp_path):
    folder = tmp_path / "cache"
    (folder / "cards").mkdir(parents=True)
    (folder / "cards" / f"{stem_of('mirror:iris')}.json").write_text("{")
    (folder / "cards" / f"{stem_of('mirror:wine')}.json").write_text("{")
    cache = Cache(folder)
    assert cache.broken_cards() == sorted([f"{stem_of('mirror:iris')}.json", f"{stem_of('mirror:wine')}.json"])
    assert cache.clear([f"{stem_of('mirror:iris')}.json"]) == [f"{stem_of('mirror:iris')}.json"]
    assert cache.broken_cards() == [f"{stem_of('mirror:wine')}.json"]
    assert not cache.is_empty()


class TestClear:
    def test_only_what_is_the_cache_s(self, cache, dataset):
        cache.put(KEY, dataset, {})
        cache.put_suite("openml-suite:99", [1, 2])
        mine = cache.folder / "content" / "mine.txt"
        mine.write_text("x")
        (cache.folder / "content" / ".x.part").write_text("half")
        assert cache.clear() == [KEY]
        assert cache.suite("openml-suite:99") is None
        assert list(cache.folder.glob("c*/*")) == [mine]

    def test_nothing_there(self, cache):
        assert cache.clear() == [] and cache.clear(["x"]) == []
        assert cache.entries() == {} and cache.verify() == {}


def test_lists_of_suites(cache):
    assert cache.suite("openml-suite:99") is None
    cache.put_suite("openml-suite:99", [61, 11])
    assert cache.suite("openml-suite:99") == [61, 11]
    the(cache, "suites").write_text("{}")
    with pytest.raises(DataError, match="damaged"):
        cache.suite("openml-suite:99")
    assert cache.verify()


class TestFetch:
    def test_it_is_brought_once(self, cache, dataset):
        calls = []
        for _ in range(2):
            found, card = cache.fetch(KEY, lambda: (calls.append(1), (dataset, {"n": 1}))[1])
            assert same(found, dataset) and card == {"n": 1}
        assert calls == [1]

    def test_a_failure_leaves_nothing(self, cache):
        def bring():
            raise DataError("no such dataset")

        with pytest.raises(DataError, match=r"^no such dataset$"):
            cache.fetch(KEY, bring)
        assert cache.entries() == {} and cache.get(KEY) is None

    def test_threads_bring_it_once(self, cache, dataset):
        calls, barrier = [], threading.Barrier(4)

        def one():
            barrier.wait()
            Cache(cache.folder).fetch(KEY, lambda: (calls.append(1), (dataset, {}))[1])

        threads = [threading.Thread(target=one) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert calls == [1]

    def test_processes_bring_it_once(self, tmp_path):
        script = textwrap.dedent(
            """
            import sys, time
            from pathlib import Path
            import numpy as np
            from mfbench import Dataset
            from mfbench.data.cache import Cache

            folder = Path(sys.argv[1])

            def bring():
                with (folder / "calls").open("a") as file:
                    file.write("x")
                time.sleep(0.5)
                return Dataset(name="d", X=np.ones((2, 1)), y=np.array([0, 1]), class_names=("a", "b"),
                               feature_names=("f",), categorical=np.array([False])), {}

            while not (folder / "go").exists():
                (folder / f"ready{sys.argv[2]}").touch()
                time.sleep(0.01)
            print(Cache(folder / "cache").fetch("openml:61", bring)[0].n_samples)
            """
        )
        started = [
            subprocess.Popen([sys.executable, "-c", script, str(tmp_path), str(i)], stdout=subprocess.PIPE, text=True)
            for i in range(2)
        ]
        while len(list(tmp_path.glob("ready*"))) < 2:
            assert all(process.poll() is None for process in started)
        (tmp_path / "go").touch()
        assert [process.communicate(timeout=60)[0] for process in started] == ["2\n", "2\n"]
        assert (tmp_path / "calls").read_text() == "x"

    @pytest.mark.skipif(os.name == "nt", reason="signals")
    @pytest.mark.parametrize("when", ["write", "replace"])
    def test_a_killed_writer_leaves_nothing_half(self, tmp_path, dataset, when):
        """The process dies while it writes the table, or between the table and its card."""
        script = textwrap.dedent(
            """
            import os, signal, sys
            from pathlib import Path
            import numpy as np
            from mfbench import Dataset
            from mfbench.data.cache import Cache

            def die(*_):
                os.kill(os.getpid(), signal.SIGKILL)

            if sys.argv[2] == "write":
                os.fsync = die
            else:
                go = Path.replace
                Path.replace = lambda self, target: die() if target.suffix == ".json" else go(self, target)
            Cache(Path(sys.argv[1])).put("openml:61", Dataset(
                name="d", X=np.ones((2, 1)), y=np.array([0, 1]), class_names=("a", "b"), feature_names=("f",),
                categorical=np.array([False])), {})
            """
        )
        folder = tmp_path / "cache"
        done = subprocess.run([sys.executable, "-c", script, str(folder), when])
        assert done.returncode == -signal.SIGKILL
        cache = Cache(folder)
        assert list(folder.glob("c*/.*.part")), "the writer was killed too early"
        assert cache.get(KEY) is None and cache.entries() == {} and cache.verify() == {}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found, _ = cache.fetch(KEY, lambda: (dataset, {}))  # the dead process's lock is gone
        assert same(found, dataset)
        cache.clear()
        assert not list(folder.glob("c*/.*"))


class TestNotWritable:
    def test_the_folder_is_a_file(self, tmp_path, dataset):
        (tmp_path / "cache").write_text("")
        cache = Cache(tmp_path / "cache")
        assert cache.get(KEY) is None and cache.entries() == {}
        for work in (lambda: cache.put(KEY, dataset, {}), lambda: cache.fetch(KEY, lambda: (dataset, {}))):
            with pytest.raises(DataError, match=r"cannot write to the cache .*; free some space, .* MFBENCH_CACHE"):
                work()

    def test_reading_writes_nothing(self, cache, dataset, monkeypatch):
        cache.put(KEY, dataset, {})
        before = {path: path.stat().st_mtime_ns for path in cache.folder.rglob("*")}

        def refuse(*_, **__):
            raise PermissionError(13, "Permission denied")

        for name in ("mkdir", "replace", "unlink", "write_bytes"):
            monkeypatch.setattr(Path, name, refuse)
        monkeypatch.setattr(os, "fsync", refuse)
        assert same(cache.get(KEY)[0], dataset)
        assert same(cache.fetch(KEY, lambda: None)[0], dataset)
        assert {path: path.stat().st_mtime_ns for path in cache.folder.rglob("*")} == before
        with pytest.raises(DataError, match="Permission denied"):
            cache.put("other", dataset, {})
        with pytest.raises(DataError, match="Permission denied"):
            cache.clear()
        assert same(cache.get(KEY)[0], dataset)

    def test_a_full_disk(self, cache, dataset, monkeypatch):
        def full(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(DataError, match=r"No space left on device; free some space"):
            cache.put(KEY, dataset, {})
        assert not list(cache.folder.glob("c*/*")), "no half file stays"
