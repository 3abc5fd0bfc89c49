"""Files of pytest-benchmark: rounds or statistics; whatever else is in them becomes one sentence."""

import json
import os
import subprocess
import sys
from statistics import median

import pytest

from mfbench.errors import UsageError
from mfbench_gate import readers as reader
from mfbench_gate.comparison import MeasuredCase
from mfbench_gate.readers import read_benchmark_file

NAME = MeasuredCase("tests/test_speed.py::fit")


def test_the_rounds_are_the_values_of_a_benchmark(benchmark_file):
    result = read_benchmark_file(benchmark_file("a.json", {"fit": [1.0, 3.0, 2.0]}))
    assert result.kind == "pytest-benchmark file"
    assert list(result.times[NAME].values()) == [1.0, 3.0, 2.0]
    assert (result.side.version, result.side.machine) == (
        "0123456789ab with uncommitted changes",
        "A Processor, Linux 6.1",
    )
    assert result.libraries == {"Python": "3.11.2"}


@pytest.mark.parametrize(("stats", "seconds"), [({"median": 2, "mean": 3}, 2.0), ({"mean": 3}, 3.0)])
def test_without_rounds_the_statistics_are_used(benchmark_file, stats, seconds):
    path = benchmark_file("a.json", {"fit": {"fullname": "fit", "stats": stats}})
    assert read_benchmark_file(path).times == {MeasuredCase("fit"): {(0, 0): seconds}}


@pytest.mark.slow(reason="pytest runs in a process of its own")
def test_a_file_that_pytest_benchmark_wrote(pytester_file):
    result = read_benchmark_file(pytester_file)
    ((place, seconds),) = result.times.items()
    assert place.method.endswith("test_sum")
    assert 0 < median(seconds.values()) < 1
    assert result.side.machine


@pytest.fixture
def pytester_file(tmp_path):
    """A file that pytest-benchmark writes in a process of its own."""
    test = tmp_path / "test_own.py"
    test.write_text("def test_sum(benchmark):\n    benchmark.pedantic(sum, ([1, 2],), rounds=5)\n")
    path = tmp_path / "own.json"
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "none.ini", f"--benchmark-json={path}", str(test)]
    (tmp_path / "none.ini").write_text("[pytest]\n")
    # In a worker of pytest-xdist, pytest-benchmark would measure nothing.
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_XDIST_WORKER"}
    subprocess.run([sys.executable, *words], check=True, cwd=tmp_path, env=environment, capture_output=True)
    return path


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "Invalid JSON"),
        (b"\xff\xfe\x00", "Invalid JSON"),
        (b"[" * 100_000, "Invalid JSON"),
        (b"[1]", "Input should be an object"),
        (b'{"benchmarks": {}, "version": "5.1.0"}', "benchmarks: Input should be a valid array"),
        (b'{"benchmarks": []}', "version: Field required"),
        (b'{"benchmarks": [], "version": 5}', "version: Input should be a valid string"),
        (b'{"benchmarks": [], "version": "9.0.0"}', "version: String should match pattern"),
        (
            b'{"benchmarks": [' + b"1," * 100_000 + b'1], "version": "5.1.0"}',
            "benchmarks: List should have at most 100000",
        ),
    ],
)
def test_another_file_is_one_sentence(tmp_path, content, reason):
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(UsageError) as raised:
        read_benchmark_file(path)
    assert f"is neither a run folder nor a JSON file of pytest-benchmark, versions 3 to 5 ({reason}" in str(
        raised.value
    )
    assert "\n" not in str(raised.value)


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(UsageError, match=r"cannot read .*none\.json: No such file"):
        read_benchmark_file(tmp_path / "none.json")


def test_sizes_are_limited(benchmark_file, monkeypatch):
    path = benchmark_file("a.json", {"fit": [1.0], "predict": [1.0]})
    monkeypatch.setattr(reader, "LARGEST_FILE", 1)
    with pytest.raises(UsageError, match="files up to 0 MB are read"):
        read_benchmark_file(path)


def test_a_benchmark_without_a_usable_time_is_an_omission(benchmark_file):
    for stats in [
        None,
        [],
        {},
        {"median": "1"},
        {"median": True},
        {"median": -1},
        {"data": [1.0, None]},
        {"median": 10**400},
        {"median": float("nan")},
        {"median": float("inf")},
    ]:
        path = benchmark_file("a.json", {"fit": {"fullname": "fit", "stats": stats}, "predict": [1.0]})
        result = read_benchmark_file(path)
        assert [(each.name, each.reason) for each in result.omissions] == [("fit", "has no usable time in the file.")]
        assert len(result.times) == 1


def test_entries_of_any_type_are_survived(benchmark_file):
    path = benchmark_file(
        "a.json", {"fit": [1.0]}, machine_info=[1], commit_info="x", benchmarks=[1, None, {"fullname": 7}, {}]
    )
    result = read_benchmark_file(path)
    assert len(result.omissions) == 4
    assert (result.side.version, result.side.machine, result.times) == ("", "", {})


def test_names_lose_control_characters_and_have_a_limit(benchmark_file):
    path = benchmark_file("a.json", {"fit": {"fullname": "\x1b[31mfit\n" + "x" * 1000, "stats": {"median": 1}}})
    ((place, _),) = read_benchmark_file(path).times.items()
    assert place.method.startswith("[31mfit xxx")
    assert len(place.method) == 300


def test_a_name_that_appears_twice_is_compared_once(benchmark_file):
    entry = {"fullname": "fit", "stats": {"median": 1}}
    path = benchmark_file("a.json", {}, benchmarks=[entry, entry])
    result = read_benchmark_file(path)
    assert result.times == {MeasuredCase("fit"): {(0, 0): 1.0}}
    assert result.omissions[0].reason == "appears more than once in the file; the first one is compared."


def test_of_many_rounds_the_median_is_kept(benchmark_file, monkeypatch):
    monkeypatch.setattr(reader, "MOST_ROUNDS", 2)
    result = read_benchmark_file(benchmark_file("a.json", {"fit": [1.0, 9.0, 2.0]}))
    assert result.times == {NAME: {(0, 0): 2.0}}


def test_duplicate_keys_and_large_numbers_do_not_end_the_reader(tmp_path):
    path = tmp_path / "a.json"
    number = "9" * 5000
    path.write_text(json.dumps({"version": "5.0", "benchmarks": []})[:-1] + f', "datetime": {number}}}')
    with pytest.raises(UsageError, match="is neither a run folder nor a JSON file"):
        read_benchmark_file(path)
