"""Replicates: a generated dataset of a suite becomes one dataset for each seed."""

from __future__ import annotations

from mfbench.errors import SuiteError, UsageError
from mfbench.host.expressions import Expression, parse
from mfbench.suite.limits import check_datasets
from mfbench.suite.schema import Suite


def expand_replicates(suite: Suite, profile: str, file: str) -> Suite:
    """Return a suite with its replicates listed: each dataset once for every seed."""
    groups = []
    total = 0
    for position, group in enumerate(suite.datasets):
        location = f"{file}: datasets[{position}].replicates"
        count = group.replicates
        if isinstance(count, dict):
            if profile not in count:
                raise SuiteError(f"{location}: no number for the profile {profile!r}; add {profile} = …")
            count = count[profile]
        total += len(group.use) * (1 if count is None else count)
        check_datasets(total, location if count is not None else f"{file}: datasets[{position}].use")
        if count is None:
            groups.append(group)
        elif count:
            use = [text for base in group.use for text in _with_seeds(base, count, location)]
            groups.append(group.model_copy(update={"use": use}))
    if not groups:
        raise SuiteError(f"{file}: datasets: the profile {profile!r} has no replicates of any dataset")
    return suite.model_copy(update={"datasets": groups})


def _with_seeds(text: str, count: int, location: str) -> list[str]:
    if ":" in text:
        raise SuiteError(f"{location}: {text!r} is not generated from a seed; only generated datasets have replicates")
    try:
        base = parse(text)
    except UsageError as error:
        raise SuiteError(f"{location}: {error}") from None
    if "seed" in base.params:
        raise SuiteError(f"{location}: {text!r} sets a seed; 'replicates' sets the seeds")
    return [str(Expression(base.name, {**base.params, "seed": seed})) for seed in range(count)]
