"""The shape of a suite file. A suite is data and never code: pydantic models, plain values, nothing executed.

``mfbench suites --schema`` prints the JSON Schema for editors; docs/suites.md explains every key.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Name = Annotated[str, StringConstraints(min_length=1, pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
Text = Annotated[str, StringConstraints(min_length=1)]
Label = Annotated[str, StringConstraints(min_length=1, max_length=24, pattern=r"^\S(.*\S)?$")]
Metric = Literal["accuracy", "balanced_accuracy", "f1_macro", "mcc", "log_loss", "roc_auc"]
Rule = Literal["corrected-t", "paired-t", "bayes-t", "wilcoxon", "sign", "s-test", "s-test-exact", "mcnemar"]
Selection = Literal["nested", "per-dataset"]
Top = Literal["positive", "all", "all-weighted"] | Annotated[int, Field(ge=1)] | Annotated[float, Field(gt=0, le=1)]


class Part(BaseModel):
    """Base of every table: unknown keys are errors, and a loaded suite does not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Header(Part):
    """``[suite]``: what the suite is."""

    name: Name = Field(description="The suite's name; its runs are kept in a folder of that name.")
    title: str = Field(default="", description="Heading of the report.")
    description: str = Field(default="", description="A few sentences for 'mfbench suites'.")
    seed: int = Field(default=0, ge=0, lt=2**32, description="Seed of everything random.")
    profile: Name = Field(default="paper", description="The profile that runs when none is asked for.")


class Protocol(Part):
    """``[protocol]``: how every method is measured."""

    kind: Literal["repeated-cv"] = Field(default="repeated-cv", description="Evaluation protocol.")
    folds: int = Field(default=10, ge=2, le=1000, description="Folds of the outer cross-validation.")
    repeats: int = Field(default=1, ge=1, le=10_000, description="Repetitions, each with folds of its own.")
    inner_folds: int = Field(default=5, ge=2, le=100, description="Folds of the inner cross-validation that tunes.")
    selection: Selection = Field(
        default="nested",
        description="Who chooses the tuned parameters: inner cross-validation in each training part, or, optimistic, "
        "the outer folds of the dataset that are reported.",
    )
    scale: Literal["standard", "range", "none"] = Field(
        default="standard", description="Scaling of numeric columns, fitted on the training part of each fold."
    )
    classes: Literal["two-largest", "all"] = Field(default="all", description="Which classes of a dataset are kept.")
    metrics: list[Metric] = Field(
        default=["accuracy", "balanced_accuracy"],
        min_length=1,
        description="Scores of each trial; the first one tunes and is reported.",
    )
    timeout: float = Field(
        default=600.0, gt=0, allow_inf_nan=False, description="Seconds of wall time per trial; then it is killed."
    )
    memory: float = Field(
        default=0.0,
        ge=0,
        allow_inf_nan=False,
        description="GiB per worker process; 0: an equal share of 80 % of the machine's.",
    )


class Profile(Part):
    """``[profiles.NAME]``: what a profile changes in the protocol."""

    folds: int | None = Field(default=None, ge=2, le=1000, description="See [protocol].")
    repeats: int | None = Field(default=None, ge=1, le=10_000, description="See [protocol].")
    inner_folds: int | None = Field(default=None, ge=2, le=100, description="See [protocol].")
    selection: Selection | None = Field(default=None, description="See [protocol].")
    timeout: float | None = Field(default=None, gt=0, allow_inf_nan=False, description="See [protocol].")
    memory: float | None = Field(default=None, ge=0, allow_inf_nan=False, description="See [protocol].")


class Datasets(Part):
    """``[[datasets]]``: a list of datasets that share the options below."""

    use: list[Text] = Field(
        min_length=1, description="Names, expressions such as 'waveform-21(n_samples=1000)', or 'file:PATH'."
    )
    target: str | None = Field(default=None, description="Label column of a 'file:' dataset; the last one if unset.")
    categorical: list[str] | None = Field(
        default=None, description="Columns of a 'file:' dataset that hold categories although they are numbers."
    )


class Method(Part):
    """``[[methods]]``: a selector and a classifier, or a classifier alone, under a label."""

    label: Label = Field(description="Short unique name in tables.")
    selector: str | None = Field(default=None, description="Selector, such as 'relieff(n_neighbors=10)'.")
    classifier: str = Field(description="Classifier, such as 'knn(n_neighbors=1)'.")
    top: Top = Field(
        default="positive",
        description="Features kept: those with a positive weight, a count, a fraction, all, or all multiplied by the "
        "square root of their weight.",
    )
    tune: (
        Literal["default"] | Annotated[dict[str, Annotated[list[Any], Field(min_length=1)]], Field(min_length=1)] | None
    ) = Field(
        default=None,
        description="Grid for the inner cross-validation: 'default': the estimators' own grids; a table lists values "
        "of parameters ('n_neighbors', or 'selector.n_neighbors' where both have it) and of 'top'.",
    )
    selection: Selection | None = Field(
        default=None, description="How this method's parameters are chosen; as [protocol] says if unset."
    )


class Report(Part):
    """``[report]``: how results are told."""

    reference: str | None = Field(default=None, description="Label that wins, ties and losses are told for.")
    test: Rule = Field(default="corrected-t", description="Rule for a difference on one dataset that marks the table.")
    published_test: Rule = Field(
        default="paired-t", description="Rule of the papers that the results stand beside, for 'published W/T/L'."
    )
    alpha: float = Field(default=0.05, gt=0, lt=0.5, description="Level of the two-sided test.")
    rope: float = Field(
        default=0.01, ge=0, allow_inf_nan=False, description="Differences of at most this size are practically none."
    )
    missing: Literal["drop-dataset", "worst-rank", "impute-dummy"] = Field(
        default="drop-dataset", description="What becomes of cells without a score when datasets are compared."
    )
    equal: list[Annotated[list[Label], Field(min_length=2, max_length=2)]] = Field(
        default=[],
        description="Pairs of methods that are equal by construction: the report tells what each rule rejects.",
    )
    published: Text | list[Text] = Field(
        default=[], description="Tables of published figures to compare with: names, or paths of CSV files."
    )


class Suite(Part):
    """A suite file."""

    suite: Header
    protocol: Protocol = Protocol()
    profiles: dict[Name, Profile] = Field(
        default={}, description="Named changes of the protocol, chosen with --profile."
    )
    datasets: list[Datasets] = Field(min_length=1)
    methods: list[Method] = Field(min_length=1)
    report: Report = Report()


# Every suite has these three; a [profiles.NAME] table of the same name replaces one. "paper": the protocol as written.
STANDARD_PROFILES: dict[str, Profile] = {
    "quick": Profile(folds=5, repeats=1, inner_folds=3),
    "standard": Profile(folds=10, repeats=3, inner_folds=5),
    "paper": Profile(),
}
