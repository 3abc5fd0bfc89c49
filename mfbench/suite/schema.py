"""The schema of suite files as pydantic models. A suite contains plain values; nothing in it is executed.

``mfbench suites --schema`` prints the JSON Schema for editors; docs/suites.md explains every key.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from mfbench.errors import SuiteError
from mfbench.model.evaluation import ProtocolSpec

LARGEST_FILE = 16 * 2**20
"""Bytes of a suite file."""
MOST_ENTRIES = 10_000
"""Datasets of a suite, with replicates; its methods; values to try for a parameter."""
MOST_TABLES = 100
"""Tables of published figures."""
MOST_POINTS = 1_000_000
"""Points of a method's grid."""
MOST_METRICS = 100
"""Metrics of a suite."""
MOST_SIZES = 200
"""Sizes in a curve."""
FEWEST_ROWS = 10
"""Training rows to which a suite may restrict a fold."""
MOST_TRIALS = 2_000_000
"""Trials of a plan."""


def check_datasets(number: int, location: str) -> None:
    """Reject a list of datasets that is too long."""
    if number > MOST_ENTRIES:
        raise SuiteError(f"{location}: {number:,} datasets with their replicates; a suite has at most {MOST_ENTRIES:,}")


def check_points(points: float, location: str) -> None:
    """Reject a grid that is too large."""
    if points > MOST_POINTS:
        raise SuiteError(f"{location}: {points:,} combinations of values; a method tries at most {MOST_POINTS:,}")


def check_trials(datasets: int, methods: int, folds: int, repeats: int, location: str) -> None:
    """Reject a plan that is too large."""
    trials = datasets * methods * folds * repeats
    if trials > MOST_TRIALS:
        raise SuiteError(
            f"{location}: {datasets:,} datasets × {methods:,} methods × {folds * repeats:,} folds are {trials:,} "
            f"trials; a plan has at most {MOST_TRIALS:,}: use fewer folds or repeats, or select a part with --only"
        )


LONGEST_METRIC = 200
Metric = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_METRIC, pattern=r"^[ -~]+$")]
Name = Annotated[str, StringConstraints(min_length=1, pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
Text = Annotated[str, StringConstraints(min_length=1)]
Label = Annotated[str, StringConstraints(min_length=1, max_length=24, pattern=r"^\S(.*\S)?$")]
Title = Annotated[str, StringConstraints(min_length=1, max_length=48, pattern=r"^\S(.*\S)?$")]
Rule = Literal["corrected-t", "paired-t", "bayes-t", "wilcoxon", "sign", "s-test", "s-test-exact", "mcnemar"]
Selection = Literal["nested", "per-dataset"]
# The distance in which feature weights count, if a method keeps them.
Weights = Literal["euclidean", "manhattan"]
Classes = Literal["two-largest", "all"]
# TOML guarantees 64-bit integers only; Python also reads longer ones, which may fail to print or to convert to floats.
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
Count = Annotated[int, Field(ge=1, le=_HIGHEST)]
Fraction = Annotated[float, Field(gt=0, le=1)]
Top = Literal["positive", "all", "all-weighted"] | Count | Fraction
End = Annotated[int, Field(ge=_LOWEST, le=_HIGHEST)] | Annotated[float, Field(allow_inf_nan=False)]


def _allowed_size(value: Any, validate: ValidatorFunctionWrapHandler) -> Any:
    """Return a size of a curve in canonical form, or state in one sentence what is allowed."""
    try:
        size = validate(value)
    except ValidationError:
        raise ValueError("'all', a whole number from 1, or a fraction such as 0.5 up to 1.0") from None
    # Equal curves must be equal runs. 1 is one feature and 1.0 is all features.
    return "all" if isinstance(size, float) and size == 1.0 else size


Size = Annotated[Literal["all"] | Count | Fraction, WrapValidator(_allowed_size)]


def _of_64_bits(values: list[Any]) -> list[Any]:
    """Return a list of values unless it contains, at any depth, an integer that is too long."""
    remaining: list[Any] = [values]
    while remaining:
        value = remaining.pop()
        if isinstance(value, list | dict):
            remaining.extend(value.values() if isinstance(value, dict) else value)
        elif isinstance(value, int) and not _LOWEST <= value <= _HIGHEST:
            raise ValueError("whole numbers of at most 64 bits")
    return values


Values = Annotated[list[Any], Field(min_length=1, max_length=MOST_ENTRIES), AfterValidator(_of_64_bits)]


class Part(BaseModel):
    """Base of every table: unknown keys are errors, and a loaded suite does not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Header(Part):
    """``[suite]``: name, title and defaults of the suite."""

    name: Name = Field(description="The suite's name; its runs are kept in a folder of that name.")
    title: str = Field(default="", description="Heading of the report.")
    description: str = Field(default="", description="A few sentences for 'mfbench suites'.")
    seed: int = Field(default=0, ge=0, lt=2**32, description="Seed of everything random.")
    profile: Name = Field(default="full", description="Profile to run without --profile.")


def _without_repetitions(sizes: list[Any]) -> list[Any]:
    """Return a list of sizes unless it contains duplicates."""
    for position, size in enumerate(sizes):
        if any(type(size) is type(other) and size == other for other in sizes[:position]):
            raise ValueError(f"sizes that differ ({size!r} is listed twice)")
    return sizes


class SizeRange(Part):
    """Numbers of features between two of them, in place of a list."""

    first: Size = Field(default=1, description="The first size: a number of features, a fraction of them, or 'all'.")
    last: Size = Field(default="all", description="The last size.")
    count: int = Field(ge=2, le=MOST_SIZES, description="Number of sizes; those that round to the same one count once.")
    spacing: Literal["linear", "log"] = Field(default="log", description="Equal differences or equal ratios.")


Curve = (
    Annotated[list[Size], Field(min_length=1, max_length=MOST_SIZES), AfterValidator(_without_repetitions)] | SizeRange
)


_FORM = Field(description="Values of unset keys: statistically sound, or as in the papers.")
_TIMEOUT = Field(gt=0, allow_inf_nan=False, description="Wall time in seconds after which a trial is killed.")
_MEMORY = Field(
    ge=0,
    allow_inf_nan=False,
    description="GiB per worker process; 0: an equal share of 80 % of the machine's memory.",
)


class Profile(Part):
    """``[profiles.NAME]``: changes of the protocol by a profile."""

    model_config = ConfigDict(extra="allow")  # the protocols of plugins may have keys of their own

    form: Annotated[Literal["sound", "published"] | None, _FORM] = None
    folds: int | None = Field(default=None, ge=2, le=1000, description="Folds of the outer cross-validation.")
    repeats: int | None = Field(default=None, ge=1, le=10_000, description="Repetitions, each with its own splits.")
    inner_folds: int | None = Field(
        default=None, ge=2, le=100, description="Folds of the inner cross-validation used for tuning."
    )
    selection: Selection | None = Field(
        default=None,
        description="How tuned parameters are selected: by inner cross-validation in each training part, or "
        "(optimistic) by the scores on the reported outer folds of the dataset.",
    )
    rounds: int | None = Field(default=None, ge=2, le=10_000, description="Rounds of generated data.")
    grid_values: int | None = Field(
        default=None,
        ge=1,
        le=1000,
        description="Maximum number of values tried for each tuned parameter: the first, the last and some in between.",
    )
    validation_share: float | None = Field(
        default=None, gt=0, lt=1, description="Share of each training part that is set aside for tuning."
    )
    test_share: float | None = Field(default=None, gt=0, lt=1, description="Share of the rows in the test part.")
    stratified: bool | None = Field(default=None, description="Whether all parts have the same class proportions.")
    refit: bool | None = Field(
        default=None, description="Whether the final fit uses the validation rows as well as the learning rows."
    )
    decisions: Literal["multi-class", "one-vs-rest"] | None = Field(
        default=None,
        description="Whether a dataset with more than two classes is one problem, or one problem per class against "
        "the rest.",
    )
    steps: int | None = Field(
        default=None, ge=2, le=20, description="Number of subsample sizes to time; each is half the next."
    )
    curve: Curve | None = Field(
        default=None, description="The curve of each method with a selector that sets neither 'curve' nor 'top'."
    )
    max_rows: int | None = Field(
        default=None,
        ge=FEWEST_ROWS,
        le=_HIGHEST,
        description="Training rows of a fold: a larger training part is sampled, stratified by class.",
    )
    timeout: Annotated[float | None, _TIMEOUT] = None
    memory: Annotated[float | None, _MEMORY] = None


class ProtocolSettings(Profile):
    """``[protocol]``: how every method is measured. Defaults of unset keys depend on the kind and the form."""

    kind: Name = Field(default="repeated-cv", description="Evaluation protocol.")
    form: Annotated[Literal["sound", "published"], _FORM] = "sound"
    threshold: float | None = Field(
        default=None,
        ge=0,
        lt=1,
        description="A feature is selected if its weight exceeds this share of the largest absolute weight.",
    )
    splitter: Text | None = Field(
        default=None,
        description="What divides the rows, such as 'grouped'; if unset, classes are stratified, and columns of a "
        "dataset are respected.",
    )
    scale: Literal["standard", "range", "none"] = Field(
        default="standard", description="Scaling of numeric columns, fitted on the training part of each fold."
    )
    classes: Classes = Field(default="all", description="Which classes of a dataset are kept.")
    metrics: list[Metric] = Field(
        default=[],
        max_length=MOST_METRICS,
        description="Scores of each trial, such as 'balanced_accuracy' or 'fbeta(beta=2)'; the first one is used for "
        "tuning and in the report. Empty: those of the protocol or the task.",
    )
    timeout: Annotated[float, _TIMEOUT] = 600.0
    memory: Annotated[float, _MEMORY] = 0.0

    def completed(
        self, spec: ProtocolSpec, profile: Profile | None = None, metrics: Sequence[str] = ()
    ) -> ProtocolSettings:
        """Return the protocol with a profile applied and every key of its kind set; the metrics are the task's."""
        # The profile's values override the file's, which override the form's. A key that the kind does not have is
        # None. Shallow: the range of a curve stays a range.
        changes = {} if profile is None else {name: value for name, value in profile if value is not None}
        form = changes.get("form", self.form)
        own = {name: value for name, value in self if name in self.model_fields_set and value is not None}
        keys = {"metrics": list(spec.metrics or metrics), **spec.values(form)}
        complete = {name: changes.get(name, own.get(name, value)) for name, value in keys.items()}
        return self.model_copy(update={**changes, **complete})


Profiles = Annotated[list[Name], Field(min_length=1)]


class Datasets(Part):
    """``[[datasets]]``: a list of datasets that share these options."""

    use: list[Text] = Field(
        min_length=1,
        max_length=MOST_ENTRIES,
        description="Names, expressions such as 'waveform-21(n_samples=1000)', or 'file:PATH'.",
    )
    replicates: (
        Annotated[int, Field(ge=1, le=MOST_ENTRIES)] | dict[Name, Annotated[int, Field(ge=0, le=MOST_ENTRIES)]] | None
    ) = Field(
        default=None,
        description="Copies of each dataset, generated with the seeds 0, 1, …; one number, or one per profile.",
    )
    profiles: Profiles | None = Field(default=None, description="Use only in these profiles; in all if unset.")
    target: str | None = Field(default=None, description="Target column of a 'file:' dataset; the last one if unset.")
    task: Name | None = Field(default=None, description="What the target of a 'file:' or repository dataset is for.")
    categorical: list[str] | None = Field(
        default=None, description="Numeric columns of a 'file:' dataset to treat as categorical."
    )
    classes: Classes | None = Field(default=None, description="Which classes are kept; as in [protocol] if unset.")
    groups: Text | None = Field(default=None, description="Column whose values stay together in one part, a patient.")
    time: Text | None = Field(default=None, description="Column with a time: training rows are earlier than test rows.")
    split: Text | None = Field(default=None, description="Column with the part of each row: 'test', or its fold.")
    weights: Text | None = Field(default=None, description="Column with the weight of each row in fits and scores.")
    feature_groups: dict[Text, Annotated[list[Text], Field(min_length=1)]] | None = Field(
        default=None, description="Features selected together: names or shell patterns by the name of their group."
    )


class Range(Part):
    """Evenly spaced numbers in place of a list of values of a grid, or numbers for a random search to draw."""

    first: End = Field(description="The first number.")
    last: End = Field(description="The last number; it may be smaller than the first.")
    count: int | None = Field(
        default=None, ge=2, le=10_000, description="Number of values; without it a random search draws them."
    )
    spacing: Literal["linear", "log"] = Field(default="linear", description="Equal differences or equal ratios.")

    @property
    def is_whole(self) -> bool:
        """Whether the numbers to draw are integers."""
        return self.spacing == "linear" and isinstance(self.first, int) and isinstance(self.last, int)

    def values(self) -> list[int | float]:
        """Return the numbers, rounded to twelve digits; integers if the ends and the step are integers."""
        if self.count is None:  # numbers to draw
            return [self.first, self.last]
        steps = self.count - 1
        if self.spacing == "log":
            low, high = math.log(self.first), math.log(self.last)
            values = [math.exp(low + (high - low) * i / steps) for i in range(self.count)]
            values[0], values[-1] = float(self.first), float(self.last)
        elif isinstance(self.first, int) and isinstance(self.last, int) and (self.last - self.first) % steps == 0:
            return [self.first + (self.last - self.first) // steps * i for i in range(self.count)]
        else:
            values = [self.first + (self.last - self.first) * i / steps for i in range(self.count)]
        return [float(f"{value:.12g}") for value in values]

    @model_validator(mode="after")
    def _is_sound(self) -> Range:
        if self.spacing == "log" and min(self.first, self.last) <= 0:
            raise ValueError("ends above 0 for spacing 'log'")
        if self.count is None and self.first == self.last:
            raise ValueError("ends that differ")
        if not all(map(math.isfinite, [float(self.last) - self.first, *self.values()])):
            raise ValueError("ends that are less far apart")
        return self


class Search(Part):
    """Trying some points of a grid instead of all, as scikit-learn's ``RandomizedSearchCV`` and halving search do."""

    kind: Literal["random", "halving"] = Field(description="How points are selected.")
    n: int | None = Field(default=None, ge=1, le=MOST_ENTRIES, description="random: how many points are drawn.")
    factor: int = Field(
        default=3, ge=2, le=1000, description="halving: one point in this many goes on, with that many times the rows."
    )

    @model_validator(mode="after")
    def _is_sound(self) -> Search:
        if (self.kind == "random") != (self.n is not None) or (self.kind == "random" and self.factor != 3):
            raise ValueError("{ kind = 'random', n = 30 } or { kind = 'halving', factor = 3 }")
        return self


class Method(Part):
    """``[[methods]]``: a selector and a learner, or a learner alone, under a label."""

    label: Label = Field(description="Short name for the command line and narrow tables, unique in each profile.")
    name: Title | None = Field(
        default=None,
        description="Name in reports, such as 'ReliefF + 1-NN'; by default composed of those of selector and learner.",
    )
    selector: str | None = Field(default=None, description="Selector, such as 'relieff(n_neighbors=10)'.")
    classifier: str | None = Field(default=None, description="Classifier, such as 'knn(n_neighbors=1)'.")
    regressor: str | None = Field(default=None, description="Regressor, such as 'ridge(alpha=10)'.")
    top: Top | Literal["relevant"] = Field(
        default="positive",
        description="Features kept: those with a positive weight, a number of them, a fraction, all, all multiplied "
        "by the square root of their weight, or (ground-truth) as many as are relevant.",
    )
    curve: Curve | None = Field(
        default=None,
        description="Score the method at several numbers of features, all from one fit of the selector: a list of "
        "numbers, fractions and 'all', or a range; instead of 'top'.",
    )
    weights: Weights | None = Field(
        default=None,
        description="Multiply the kept features so that their weights count in a 'euclidean' distance (by the square "
        "root of the weight) or a 'manhattan' distance (by the weight); unweighted if unset.",
    )
    tune: Literal["default"] | Annotated[dict[str, Values | Range], Field(min_length=1)] | None = Field(
        default=None,
        description="Values to tune: 'default' for the estimators' own grids, or a table with a list or a range of "
        "values for parameters ('n_neighbors'; 'selector.n_neighbors' if both steps have it; 'a,b' for two that are "
        "tuned together) and for 'top'.",
    )
    search: Search | None = Field(
        default=None, description="Which combinations of the values of 'tune' are tried; all if unset."
    )
    profiles: Profiles | None = Field(default=None, description="Use only in these profiles; in all if unset.")
    selection: Selection | None = Field(
        default=None, description="How this method's parameters are selected; as in [protocol] if unset."
    )

    @property
    def steps(self) -> dict[str, str]:
        """The expression of each step that it has, by kind."""
        written = {kind: getattr(self, kind) for kind in ("selector", "classifier", "regressor")}
        return {kind: text for kind, text in written.items() if text is not None}


class NamedPart(Part):
    """``[parts.NAME]``: a part of the suite, which ``--part NAME`` runs."""

    only: list[Text] = Field(
        min_length=1,
        max_length=MOST_ENTRIES,
        description="Shell patterns as of --only: the part has the datasets that match one, or all if none does, and "
        "likewise the methods.",
    )


class ReportSettings(Part):
    """``[report]``: reference, tests and published figures of the report."""

    reference: str | None = Field(default=None, description="Label of the method that the others are compared with.")
    labels: bool | Profiles = Field(
        default=False, description="Show methods by label instead of by name, in all or in these profiles."
    )
    test: Rule = Field(default="corrected-t", description="Rule that marks significant differences on a dataset.")
    published_test: Rule = Field(
        default="paired-t", description='Rule of the papers, for the count "papers\' rule W/T/L".'
    )
    alpha: float = Field(default=0.05, gt=0, lt=0.5, description="Level of the two-sided test.")
    rope: float | None = Field(
        default=None,
        ge=0,
        allow_inf_nan=False,
        description="Differences up to this size are practically equal; by default the metric's margin, usually 0.01.",
    )
    missing: Literal["drop-dataset", "worst-rank", "impute-dummy"] = Field(
        default="drop-dataset", description="How cells without a score are treated in comparisons across datasets."
    )
    equal: list[Annotated[list[Label], Field(min_length=2)]] = Field(
        default=[],
        description="Lists of methods that are equal by construction: the report shows how often each rule rejects.",
    )
    published: Text | Annotated[list[Text], Field(max_length=MOST_TABLES)] = Field(
        default=[], description="Tables of published figures to compare with: names, or paths of CSV files."
    )


class Suite(Part):
    """A suite file."""

    suite: Header
    protocol: ProtocolSettings = ProtocolSettings()
    profiles: dict[Name, Profile] = Field(
        default={}, description="Named variants of the protocol, selected with --profile."
    )
    parts: dict[Name, NamedPart] = Field(default={}, description="Named parts of the suite, selected with --part.")
    datasets: list[Datasets] = Field(min_length=1, max_length=MOST_ENTRIES)
    methods: list[Method] = Field(min_length=1, max_length=MOST_ENTRIES)
    report: ReportSettings = ReportSettings()


def standard_profiles(spec: ProtocolSpec) -> dict[str, Profile]:
    """Return the profiles of every suite; a [profiles.NAME] table of the same name replaces one."""
    changes = {**spec.profiles, "full": {}}
    return {name: Profile(**values) for name, values in changes.items()}
