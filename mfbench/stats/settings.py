"""Settings of a comparison: metric, reference, tests, level, and what to do about missing scores."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from mfbench.errors import UnknownNameError, UsageError
from mfbench.suite.schema import Report
from mfbench.suite.schema import Rule as RuleName
from mfbench.suite.scores import SCORES

MissingPolicy = Literal["drop-dataset", "worst-rank", "impute-dummy"]
RULE_NAMES: tuple[str, ...] = get_args(RuleName)
MISSING_POLICIES: tuple[str, ...] = get_args(MissingPolicy)


@dataclass(frozen=True)
class ComparisonSettings:
    """Settings of a comparison."""

    metric: str  # column of the score
    greater_is_better: bool  # its direction
    reference: str | None  # method that the others are compared with
    test: str  # one of `mfbench.stats.one_dataset.rules.RULES`: the rule that marks the tables
    alpha: float  # level of the two-sided test
    ratio: float  # test rows over training rows of a fold
    # One of `mfbench.stats.one_dataset.rules.RULES`: the rule of the papers that the results are compared with.
    published_test: str = "paired-t"
    rope: float = 0.01  # differences of at most this size are practically zero, in the metric's unit
    missing: MissingPolicy = "drop-dataset"  # how cells without a score are treated in comparisons across datasets

    def replace(self, **changes: Any) -> ComparisonSettings:
        """Return a copy with some settings changed; a new metric also sets the direction."""
        if "metric" in changes:
            if changes["metric"] not in SCORES:
                raise UnknownNameError("metric", changes["metric"], SCORES)
            changes.setdefault("greater_is_better", SCORES[changes["metric"]].greater_is_better)
        if not 0 < changes.get("alpha", self.alpha) < 1:
            raise UsageError(f"alpha is {changes['alpha']}; a level lies between 0 and 1")
        if not 0 <= changes.get("rope", self.rope) < np.inf:
            raise UsageError(f"rope is {changes['rope']}; a size is 0 or more")
        choices = {"test": RULE_NAMES, "published_test": RULE_NAMES, "missing": MISSING_POLICIES}
        for name, allowed in choices.items():
            if changes.get(name, getattr(self, name)) not in allowed:
                raise UnknownNameError("policy" if name == "missing" else "test", changes[name], allowed)
        return dataclasses.replace(self, **changes)

    @property
    def sign(self) -> float:
        """1 if greater is better, else -1."""
        return 1.0 if self.greater_is_better else -1.0


def settings_of(report: Report, metric: str, reference: str | None, ratio: float) -> ComparisonSettings:
    """Return the settings that a suite's ``[report]`` asks for."""
    return ComparisonSettings(
        metric=metric,
        greater_is_better=SCORES[metric].greater_is_better,
        reference=reference,
        test=report.test,
        alpha=report.alpha,
        ratio=ratio,
        published_test=report.published_test,
        rope=report.rope,
        missing=report.missing,
    )
