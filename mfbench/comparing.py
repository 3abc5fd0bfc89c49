"""Comparing stored results, and writing a comparison in the formats of other programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from mfbench.analysis.results import Run
from mfbench.api import DEFAULT_OUT, find_run, load_run, write_report
from mfbench.compare.comparison import Comparison
from mfbench.compare.formats.bencher import to_bencher
from mfbench.compare.formats.github_action_benchmark import to_github_action_benchmark
from mfbench.compare.formats.junit import to_junit
from mfbench.compare.formats.markdown import to_markdown
from mfbench.compare.formats.pytest_benchmark import to_pytest_benchmark
from mfbench.compare.limits import Limits, parse_limits
from mfbench.compare.readers.benchmark_file import read_benchmark_file
from mfbench.compare.readers.result import StoredResult
from mfbench.compare.readers.runs import read_run
from mfbench.compare.stored import compare_stored
from mfbench.errors import UsageError
from mfbench.run.store_file import FILE_NAME
from mfbench.untrusted import plain_text

_WRITERS: dict[str, Callable[[Comparison], str]] = {
    "markdown": to_markdown,
    "junit": to_junit,
    "pytest_benchmark": to_pytest_benchmark,
    "github_action_benchmark": to_github_action_benchmark,
    "bencher": to_bencher,
}


@dataclass(frozen=True)
class OutputFiles:
    """The files that a comparison is written to; None writes none.

    Attributes
    ----------
    markdown : Path or None
        For the summary of a job, or a comment on a pull request.
    junit : Path or None
        JUnit XML.
    pytest_benchmark : Path or None
        JSON that ``pytest-benchmark compare`` reads.
    github_action_benchmark : Path or None
        JSON of the form ``customSmallerIsBetter``.
    bencher : Path or None
        Bencher Metric Format.
    """

    markdown: Path | None = None
    junit: Path | None = None
    pytest_benchmark: Path | None = None
    github_action_benchmark: Path | None = None
    bencher: Path | None = None


def compare_results(
    base: Run | Path | str,
    head: Run | Path | str,
    *,
    limits: Limits | Sequence[str] = (),
    level: float = 0.05,
    only: Sequence[str] = (),
    undecided_ok: bool = False,
    out: Path | str = DEFAULT_OUT,
) -> Comparison:
    """Compare two stored results: runs, timing runs, or files of pytest-benchmark.

    Scores on the same folds are judged. Times and memory were not measured in one job, so they are a trend only.

    Parameters
    ----------
    base, head : Run, Path or str
        A run, a run folder, a folder of runs, the name of a suite, a bundle, or a JSON file of pytest-benchmark.
    limits : Limits or sequence of str, default=()
        Losses of scores that are accepted, such as ``["accuracy=0.02"]``; 0.01 for every other metric.
    level : float, default=0.05
        Probability of any false alarm.
    only : sequence of str, default=()
        Shell patterns of datasets, methods or names of benchmarks.
    undecided_ok : bool, default=False
        Whether undecided cells count as no worse in `Comparison.exit_code`.
    out : Path or str, default="reports"
        Folder of all runs, for names of suites.

    Returns
    -------
    Comparison
        With the lists ``cells``, ``changes``, ``omissions`` and ``notes``, and an ``exit_code``.

    Raises
    ------
    UsageError
        If an option is not valid, or the results do not compare.
    RunError
        If a run cannot be read.

    Examples
    --------
    >>> import json, mfbench, tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = [Path(folder, name) for name in ("a.json", "b.json")]
    ...     for file, seconds in zip(files, (0.50, 0.55)):
    ...         benchmark = {"fullname": "test_fit", "stats": {"median": seconds}}
    ...         _ = file.write_text(json.dumps({"version": "5.1.0", "benchmarks": [benchmark]}))
    ...     comparison = mfbench.compare_results(*files)
    >>> [(cell.method, round(cell.ratio, 2), str(cell.verdict)) for cell in comparison.cells]
    [('test_fit', 1.1, 'trend')]
    """
    check_level(level)
    accepted = limits if isinstance(limits, Limits) else parse_limits(limits)
    before, after = read_result(base, out), read_result(head, out)
    return compare_stored(before, after, accepted, level=level, only=only, undecided_ok=undecided_ok)


def check_level(level: float) -> None:
    """Raise `UsageError` unless a level is a probability that a test can have.

    Parameters
    ----------
    level : float
    """
    if not 0.0 < level < 0.5:
        raise UsageError(f"the level {level:g} is not between 0 and 0.5: it is the probability of a false alarm")


def read_result(result: Run | Path | str, out: Path | str = DEFAULT_OUT) -> StoredResult:
    """Read one side of a comparison.

    Parameters
    ----------
    result, out
        As in `compare_results`.

    Raises
    ------
    UsageError, RunError
        As in `compare_results`.
    """
    if isinstance(result, Run):
        return read_run(result, plain_text(result.path))
    path = Path(result)
    if path.is_file() and path.suffix.lower() != ".zip":
        return read_run(load_run(path.parent), str(path)) if path.name == FILE_NAME else read_benchmark_file(path)
    return read_run(find_run(str(result), out), str(result))


def write_formats(comparison: Comparison, files: OutputFiles) -> list[Path]:
    """Write a comparison in the formats of other programs.

    Parameters
    ----------
    comparison : Comparison
    files : OutputFiles

    Returns
    -------
    list of Path
        The files that were written.

    Raises
    ------
    MfbenchError
        If a file cannot be written.
    """
    written = []
    for field in fields(files):
        path = getattr(files, field.name)
        if path is not None:
            write_report(path, _WRITERS[field.name](comparison))
            written.append(path)
    return written
