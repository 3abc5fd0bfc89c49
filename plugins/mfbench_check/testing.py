"""For plugin tests: the checks of ``mfbench check`` as pytest parameters, and the sample tables that they use."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mfbench.errors import UsageError
from mfbench.host.registry import Registry, load_registry
from mfbench_check.api import chosen_subjects, make_options
from mfbench_check.catalog import all_checks
from mfbench_check.display import CheckOutcome, CheckVerdict, explanation
from mfbench_check.running import SECONDS, Options, checks_of, run_checks
from mfbench_check.subjects import Subject, sample

__all__ = ["SingleCheck", "parametrize_plugin", "sample"]


@dataclass
class _Results:
    """The verdicts of a test run; a subject is checked when its first verdict is needed."""

    registry: Registry
    options: Options
    verdicts: dict[Subject, dict[str, CheckVerdict]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def verdict(self, subject: Subject, check: str) -> CheckVerdict:
        with self.lock:
            if subject not in self.verdicts:
                verdicts = run_checks([subject], self.registry, self.options)
                self.verdicts[subject] = {verdict.check: verdict for verdict in verdicts}
        return self.verdicts[subject][check]


@dataclass(frozen=True)
class SingleCheck:
    """One check of one subject, the value of the parameter ``check``: calling it runs the check.

    Attributes
    ----------
    subject : Subject
    check : str
        Id of the check.
    """

    subject: Subject
    check: str
    _results: _Results = field(repr=False, compare=False)

    def __call__(self) -> None:
        """Run the check, or return its verdict if the subject was checked before.

        Raises
        ------
        AssertionError
            If the check fails; the message contains the expectation, the observation, and Python code that demonstrates
            the failure.
        """
        __tracebackhide__ = True
        import pytest

        verdict = self._results.verdict(self.subject, self.check)
        match verdict.outcome:
            case CheckOutcome.FAIL:
                raise AssertionError(explanation(verdict))
            case CheckOutcome.EXPECTED:
                pytest.xfail(verdict.reason)
            case CheckOutcome.SKIPPED:
                pytest.skip(verdict.reason)
            case CheckOutcome.NOT_APPLICABLE:
                pytest.skip(f"not applicable: {verdict.reason}")


def parametrize_plugin(
    *names: str,
    package: str | None = None,
    skip: Mapping[str, str] | None = None,
    seed: int = 0,
    timeout: float = SECONDS,
) -> Callable[[Any], Any]:
    """Turn every check of a plugin into a test: a decorator for a function with the parameter ``check``.

    Nothing is checked when pytest collects the tests. The checks of a subject run together, in a child process, when
    its first test does. Under pytest-xdist, ``--dist loadgroup`` keeps the tests of a subject in one worker.

    Parameters
    ----------
    *names : str
        Names of what plugins register, plugins or packages; a plugin or package stands for everything that it
        registers.
    package : str or None, default=None
        Check only what this distribution registers.
    skip : mapping of str to str or None, default=None
        Checks to skip, with the reason for each.
    seed : int, default=0
        Seed of all randomness in the checks.
    timeout : float, default=120.0
        Time limit of one check in seconds.

    Returns
    -------
    decorator
        A pytest decorator: a check that is skipped or not applicable becomes a skipped test, and a failure that the
        spec declares becomes an expected failure.

    Raises
    ------
    UsageError
        If a name or a check does not exist, or there is nothing to check.

    Examples
    --------
    >>> @parametrize_plugin("knn")
    ... def test_plugin(check):
    ...     check()
    >>> [parameter.id for parameter in test_plugin.pytestmark[0].args[1]][:2]
    ['knn-classifier-spec', 'knn-classifier-parameters']
    """
    import pytest

    options = make_options(seed=seed, timeout=timeout, jobs=1, skip=skip)
    registry = load_registry(isolated=True)
    subjects = chosen_subjects(registry, names, package)
    if not subjects:
        raise UsageError("there is nothing to check: no third-party plugin is installed; name a plugin or a package")
    results, table = _Results(registry, options), all_checks()
    parameters = [
        pytest.param(
            SingleCheck(subject, check.id, results),
            id=f"{subject.name}-{subject.kind}-{check.id}",
            marks=pytest.mark.xdist_group(f"{subject.name}-{subject.kind}"),
        )
        for subject in subjects
        for check in checks_of(subject, table)
    ]
    return pytest.mark.parametrize("check", parameters)
