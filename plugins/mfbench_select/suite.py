"""The suite that `mfbench select` runs: one table, and pipelines of a selector, a number of features and a learner."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from mfbench_protocols.splits import RepeatedCV

FOLDS, REPEATS = 5, 5
ALL, RANDOM = "all", "random"
_SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 50, 100)
_LABEL = re.compile(r"(\S+)(?: (\d+))? > (\S+)")


class Select(RepeatedCV):
    """``select``: repeated cross-validation."""

    kind = "select"


@dataclass(frozen=True)
class Part:
    """A selector or learner, and how labels and reports name it."""

    code: str
    name: str
    expression: str


# The first of each kind are the fastest.
SELECTORS = (
    Part("F", "F-test", "anova-f"),
    Part("RF", "forest", "random-forest(n_estimators=100)"),
    Part("MRMR", "mRMR", "mrmr"),
    Part("RELF", "ReliefF", "relieff"),
    Part("RANK", "kernel ranking", "kernel-ranking"),
)
LEARNERS = {
    False: (
        Part("LOG", "logistic regression", "logistic-regression"),
        Part("RF", "random forest", "random-forest(n_estimators=100)"),
        Part("SVM", "SVM", "svm-rbf"),
        Part("KNN", "k-NN", "knn"),
    ),
    True: (
        Part("RIDGE", "ridge", "ridge"),
        Part("RF", "random forest", "random-forest(n_estimators=100)"),
        Part("SVR", "SVR", "svr-rbf"),
        Part("KNN", "k-NN", "knn"),
    ),
}
# By mean rank on the datasets of tests/benchmarks/select_order_study.py. For numbers, the fastest pairs come first.
BEST_FIRST = (
    "RF SVM", "RELF SVM", "MRMR SVM", "RF RF", "F SVM", "RELF RF", "RANK SVM", "RANK RF", "F RF", "RF LOG", "MRMR RF",
    "F LOG", "MRMR LOG", "RANK LOG", "RELF LOG", "RF KNN", "RELF KNN", "MRMR KNN", "F KNN", "RANK KNN",
)  # fmt: skip
_NAMES = {part.code: part.name for part in SELECTORS}
_LEARNER_NAMES = {part.code: part.name for parts in LEARNERS.values() for part in parts}


@dataclass(frozen=True)
class Pipeline:
    """A selector, a number of features and a learner; without a selector, all features."""

    selector: str
    size: int
    learner: str

    @property
    def label(self) -> str:
        """Its label in a suite."""
        size = "" if self.selector == ALL else f" {self.size}"
        return f"{self.selector}{size} > {self.learner}"

    @property
    def name(self) -> str:
        """Its description for readers."""
        learner = _LEARNER_NAMES.get(self.learner, self.learner)
        if self.selector == ALL:
            return f"all features + {learner}"
        if self.selector == RANDOM:
            return f"{self.size} random + {learner}"
        return f"{_NAMES.get(self.selector, self.selector)} {self.size} + {learner}"

    @property
    def selects(self) -> bool:
        """Whether it selects by the data."""
        return self.selector not in (ALL, RANDOM)

    @classmethod
    def of(cls, label: str, n_features: int) -> Pipeline:
        """Return the pipeline with a label."""
        match = _LABEL.fullmatch(label)
        if match is None:  # one that a user has added to the suite
            return cls(label, n_features, label)
        return cls(match[1], n_features if match[2] is None else int(match[2]), match[3])


def sizes_of(n_features: int) -> list[int]:
    """Return the numbers of features to try."""
    return [size for size in _SIZES if size < n_features]


def pipelines_of(n_features: int, pairs: Sequence[tuple[Part, Part]]) -> list[Pipeline]:
    """Return the pipelines of pairs of a selector and a learner, with random and with all features for each learner."""
    learners = list(dict.fromkeys(learner.code for _, learner in pairs))
    sizes = sizes_of(n_features)
    chosen = [Pipeline(selector.code, size, learner.code) for size, (selector, learner) in product(sizes, pairs)]
    chosen += [Pipeline(RANDOM, size, learner) for size, learner in product(sizes, learners)]
    return chosen + [Pipeline(ALL, n_features, learner) for learner in learners]


def pairs_of(*, is_regression: bool) -> list[tuple[Part, Part]]:
    """Return all pairs of a selector and a learner, in the order in which they are tried."""
    learners = LEARNERS[is_regression]
    if not is_regression:
        parts = {
            f"{selector.code} {learner.code}": (selector, learner) for selector in SELECTORS for learner in learners
        }
        return [parts[codes] for codes in BEST_FIRST]
    numbered = list(product(enumerate(SELECTORS), enumerate(learners)))
    numbered.sort(key=lambda pair: (pair[0][0] + pair[1][0], pair[1][0]))
    return [(selector, learner) for (_, selector), (_, learner) in numbered]


def suite_text(
    name: str,
    title: str,
    table: str,
    target: str,
    pipelines: Sequence[Pipeline],
    *,
    is_regression: bool,
    metric: str,
    repeats: int = REPEATS,
    seed: int = 0,
    columns: dict[str, str] | None = None,
) -> str:
    """Return the suite as TOML."""
    kind = "regressor" if is_regression else "classifier"
    selectors = {part.code: part.expression for part in SELECTORS} | {RANDOM: "random"}
    learners = {part.code: part.expression for part in LEARNERS[is_regression]}
    description = f"Which features of {title} predict {target}, how many are enough, and what score to expect."
    lines = [
        "# Written by mfbench select. To change it, edit it and run: mfbench suite FILE",
        "",
        "[suite]",
        f"name = {_text(name)}",
        f"title = {_text(title[:48])}",
        f"description = {_text(description)}",
        f"seed = {seed}",
        'profile = "full"',
        "",
        "[protocol]",
        'kind = "select"',
        f"folds = {FOLDS}",
        f"repeats = {repeats}",
        'scale = "standard"',
        f"metrics = [{_text(metric)}]",
        "",
        "[[datasets]]",
        f"use = [{_text(f'file:{table}')}]",
        f"target = {_text(target)}",
        'classes = "all"',
    ]
    lines += ['task = "regression"'] if is_regression else []
    lines += [f"{role} = {_text(column)}" for role, column in (columns or {}).items()]
    for pipeline in pipelines:
        lines += ["", "[[methods]]", f"label = {_text(pipeline.label)}", f"name = {_text(pipeline.name)}"]
        if pipeline.selector != ALL:
            lines += [f"selector = {_text(selectors[pipeline.selector])}", f"top = {pipeline.size}"]
        lines.append(f"{kind} = {_text(learners[pipeline.learner])}")
    return "\n".join(lines) + "\n"


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
