"""The vocabulary of evaluation: scores and their meaning, and the specs of metrics, splitters and protocols.

Like `mfbench.model.specs`, this module stays light: it imports neither NumPy nor scikit-learn.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from mfbench.model.specs import CLASSIFICATION, Factory, NamedSpec, check_values


@dataclass(frozen=True, kw_only=True)
class Score:
    """What a score means, and how reports show it.

    Parameters
    ----------
    greater_is_better : bool, default=True
        Its direction.
    percent : bool, default=True
        Whether it is a share from 0 to 1, shown in percent.
    lowest, highest : float or None, default=None
        Its smallest and largest possible value unless it is a share; None means no bound.
    counts_decisions : bool, default=False
        Whether it is the share of correct decisions.
    is_one_vs_rest : bool, default=False
        Whether each class is a decision of its own.
    in_units : bool, default=False
        Whether it is in the unit of a dataset's target. Across datasets, it is divided by the target's standard
        deviation.
    margin : float, default=0.01
        Differences up to this size count as practically zero, unless a suite sets ``[report] rope``. For a score in
        units it is a share: of the target's standard deviation in reports, of the older score in ``mfbench gate``.
    """

    greater_is_better: bool = True
    percent: bool = True
    lowest: float | None = None
    highest: float | None = None
    counts_decisions: bool = False
    is_one_vs_rest: bool = False
    in_units: bool = False
    margin: float = 0.01

    @classmethod
    def of(cls, spec: Score) -> Score:
        """Return the part of a metric's spec that describes its score."""
        return Score(**{part.name: getattr(spec, part.name) for part in fields(Score)})

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest possible value."""
        if self.percent:
            return 0.0, 1.0
        return -math.inf if self.lowest is None else self.lowest, math.inf if self.highest is None else self.highest

    @property
    def sign(self) -> float:
        """1 if greater is better, else -1."""
        return 1.0 if self.greater_is_better else -1.0


@dataclass(frozen=True, kw_only=True)
class TaskSpec(NamedSpec):
    """A plugin's description of a task: what is predicted, by which learners, and how that is scored and reported.

    Parameters
    ----------
    name : str
        Name in specs of datasets and methods: lower-case words joined by hyphens.
    summary : str
        One line for ``mfbench plugins``.
    target : {"classes", "numbers"}, default="classes"
        What a target is: one of several classes, or a finite number.
    learner : {"classifier", "regressor"}, default="classifier"
        What predicts it: the key of a method in a suite, and the hook that registers it.
    extends : str, default=""
        Name of another task whose methods and metrics suit this one too.
    metrics : sequence of str, default=()
        The metrics of a suite that sets none; the first one is judged.
    guess : str or callable, default=""
        ``"package.module:function"`` or a callable: from the targets of all rows to the `mfbench.Predictions` of the
        best constant, the score of which is what a method must beat. If empty, there is none.
    strata : str or callable, default=""
        From the targets of all rows to int64 codes of equal length, whose shares stratified splits preserve. If empty,
        rows are split without regard to their targets.
    description : str, default="{classes}"
        What the target is, in the heading of a report; ``{classes}`` stands for the classes that the suite keeps.

    Raises
    ------
    ValueError
        If the name, `target` or `learner` is invalid.

    Examples
    --------
    >>> TaskSpec(name="ranking", summary="Ordered classes", extends="classification").learner
    'classifier'
    """

    target: Literal["classes", "numbers"] = "classes"
    learner: Literal["classifier", "regressor"] = "classifier"
    extends: str = ""
    metrics: Sequence[str] = ()
    guess: Factory = ""
    strata: Factory = ""
    description: str = "{classes}"

    def suits(self, tasks: Sequence[str] | Mapping[str, Mapping[str, Any]]) -> bool:
        """Return whether what is for some tasks is for this one: it is among them, or they are all tasks."""
        return not tasks or self.name in tasks or self.extends in tasks

    def parameters(self, tasks: Sequence[str] | Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Return the parameters that an estimator takes in this task."""
        return dict(tasks.get(self.name, tasks.get(self.extends, {}))) if isinstance(tasks, Mapping) else {}


@dataclass(frozen=True, kw_only=True)
class MetricSpec(Score):
    """A plugin's description of a metric: a function that scores the predictions for a test part.

    Parameters
    ----------
    name : str
        Name in suites and on the command line: lower-case words joined by underscores, as in scikit-learn, possibly
        after the name of a library and a colon (``"sklearn:jaccard"``).
    summary : str
        One line for ``mfbench plugins``.
    function : str or callable
        ``"package.module:function"``, imported on first use, or a callable. It returns a float; NaN where the score is
        undefined. Its arguments depend on `needs`; its other parameters can be set in an expression
        (``"fbeta(beta=2)"``).
    needs : {"labels", "scores", "probabilities", "predictions"}, default="labels"
        What the function takes. With "labels", two arrays of shape (n_rows,): true and predicted targets; if rows
        have weights, their array as ``sample_weight`` too, if it has such a parameter. With the others, one
        `mfbench.Predictions`. If a classifier provides neither probabilities nor decision values ("scores"), or no
        probabilities ("probabilities"), the score is NaN and the function is not called.
    tasks : sequence of str, default=("classification",)
        Names of the tasks that it scores.
    defaults : mapping, default={}
        Parameters that override the defaults of the function.
    greater_is_better : bool, default=True
        Its direction: tuning, ranks and verdicts follow it.
    percent : bool, default=True
        Whether the score is a share from 0 to 1, which reports show in percent. Otherwise they show it with three
        decimals.
    lowest, highest : float or None, default=None
        Its range if `percent` is False; None means no bound. A value outside of the range is an error.
    counts_decisions : bool, default=False
        Whether the score is the share of correct decisions, which tests of decisions (McNemar, s-test) compare.
    is_one_vs_rest : bool, default=False
        Whether each class is a decision of its own.
    expected_failures : mapping of str to str, default={}
        As in `EstimatorSpec`.
    in_units : bool, default=False
        Whether the score is in the unit of a dataset's target. Across datasets, it is divided by the target's standard
        deviation.
    margin : float, default=0.01
        Differences up to this size count as practically zero, unless a suite sets ``[report] rope``. For a score in
        units it is a share: of the target's standard deviation in reports, of the older score in ``mfbench gate``.

    Raises
    ------
    ValueError
        If the name or `needs` is invalid.

    Examples
    --------
    >>> import numpy as np
    >>> def errors(y_true, y_pred):
    ...     return float(np.sum(y_true != y_pred))
    >>> spec = MetricSpec(name="errors", summary="Wrong rows", function=errors, greater_is_better=False, percent=False)
    >>> spec.range
    (-inf, inf)
    """

    name: str
    summary: str
    function: Factory
    needs: Literal["labels", "scores", "probabilities", "predictions"] = "labels"
    tasks: Sequence[str] = (CLASSIFICATION,)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    expected_failures: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if re.fullmatch(r"([a-z0-9]+:)?[a-z0-9]+(_[a-z0-9]+)*", self.name) is None:
            raise ValueError(
                f"{self.name!r} is not a valid name of a metric: use lower-case letters, digits and single "
                "underscores, such as 'average_precision'"
            )
        check_values(self)

    @property
    def factory(self) -> Factory:
        """The function, by the name that other specs have for what they import."""
        return self.function


CURVE_METRICS = dict.fromkeys(("area", "area_linear"), Score(percent=False))
"""Scores of a curve: the area under the first metric, over the logarithm of the size and over the size."""


@dataclass(frozen=True, kw_only=True)
class ProtocolSpec(NamedSpec):
    """A plugin's description of a protocol: which rows train and test, what a trial does, and what its report has.

    Parameters
    ----------
    name : str
        Name in ``[protocol] kind``: lower-case words joined by hyphens.
    summary : str
        One line for ``mfbench plugins``.
    protocol : str or callable
        ``"package.module:Class"`` of a `mfbench.EvaluationProtocol`. Its constructor takes the seed and each of `keys`,
        except "selection", as keywords, and raises ValueError for a value that is not allowed.
    keys : mapping
        The keys of ``[protocol]`` that it adds to those of every protocol, with their default values: the recommended
        practice. They are part of a trial's key, except for those that only count repetitions ("repeats", "rounds").
    published : mapping, default={}
        Defaults that differ in ``form = "published"``, which reproduces a paper's measurements.
    profiles : mapping of str to mapping, default={}
        Values of its keys in the profiles ``quick`` and ``standard``.
    metrics : sequence of str, default=()
        The metrics of a suite that sets none; those of its task if empty.
    scores : mapping of str to Score, default={}
        Scores that its trials compute by themselves, which ``metrics`` may list; one that predicts also has the metrics
        of plugins.
    runner : str, default="mfbench.run.trial.curve:PredictionRunner"
        Import path of the `mfbench.run.trial.curve.TrialRunner` that runs a trial. The default fits a method on the
        training rows and scores its predictions for the test rows.
    resolver : str, default="mfbench.suite.resolve:resolve_predictor"
        Import path of the function that checks a suite's method.
    predicts : bool, default=True
        Whether test rows are predicted, so that each method needs a classifier.
    tunes : bool, default=True
        Whether methods may tune.
    draws_curves : bool, default=True
        Whether methods may be scored at several numbers of features.
    samples : bool, default=True
        Whether training rows may be sampled (``max_rows``).
    times : bool, default=False
        Whether it measures times, which are comparable only if measured together, in place of scores.
    compares : bool, default=True
        Whether reports compare methods by their scores. If not, or if it measures times, a report has the sections that
        a plugin adds with the hook ``mfbench_report_sections``.
    resampling : {"", "folds", "thirds", "splits"}, default=""
        The kind of resampling whose tests have a measured level: cross-validation, random thirds or random splits. If
        empty, reports state no level.

    Raises
    ------
    ValueError
        If the name or `resampling` is invalid.

    Examples
    --------
    >>> spec = ProtocolSpec(name="two-halves", summary="Each half tests once", protocol="my_package:Halves", keys={})
    >>> "area" in spec.own_scores
    True
    """

    protocol: Factory
    keys: Mapping[str, Any]
    published: Mapping[str, Any] = field(default_factory=dict)
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    metrics: Sequence[str] = ()
    scores: Mapping[str, Score] = field(default_factory=dict)
    runner: str = "mfbench.run.trial.curve:PredictionRunner"
    resolver: str = "mfbench.suite.resolve:resolve_predictor"
    predicts: bool = True
    tunes: bool = True
    draws_curves: bool = True
    samples: bool = True
    times: bool = False
    compares: bool = True
    resampling: Literal["", "folds", "thirds", "splits"] = ""

    @property
    def factory(self) -> Factory:
        """The class, by the name that other specs have for what they import."""
        return self.protocol

    @property
    def own_scores(self) -> dict[str, Score]:
        """The scores that its trials compute by themselves."""
        return {**(CURVE_METRICS if self.draws_curves else {}), **self.scores}

    def values(self, form: str) -> dict[str, Any]:
        """Return every key with its value in a form."""
        return {**self.keys, **(self.published if form == "published" else {})}


@dataclass(frozen=True, kw_only=True)
class SplitterSpec(NamedSpec):
    """A plugin's description of a splitter, which divides rows into training and test parts.

    Parameters
    ----------
    name : str
        Name for ``[protocol] splitter``: lower-case words joined by hyphens.
    summary : str
        One line for ``mfbench plugins``.
    factory : str or callable
        ``"package.module:Class"`` or a callable. It takes the parameters of an expression (``"bootstrap(draws=30)"``)
        and returns an object that can be pickled, with a method ``split(y, by, folds, seed)``: class codes, the array
        that `needs` names (or None), the suite's number of folds, and a seed. The method returns a list of pairs of row
        numbers, for training and for testing.
    needs : {"", "groups", "time", "split"}, default=""
        The array of a `Dataset` that it gets. Rows are split by nothing else.
    is_random : bool, default=True
        False if the seed has no influence; a dataset then has one repeat.
    inner : str, default=""
        The splitter that divides training rows for tuning. If empty, it is this one if it needs groups or time, else
        the one that suits the dataset.
    resampling : {"", "folds", "splits", "thirds"}, default=""
        The kind of resampling for which the level of the corrected t-test was measured: parts that are tested once,
        random splits or random thirds. If empty, its assumption is not met, and a report gives no verdict.
    expected_failures : mapping of str to str, default={}
        As in `EstimatorSpec`.

    Raises
    ------
    ValueError
        If the name, `needs` or `resampling` is invalid.

    Examples
    --------
    >>> SplitterSpec(name="by-site", summary="Sites stay whole", factory="my_package:BySite", needs="groups").is_random
    True
    """

    factory: Factory
    needs: Literal["", "groups", "time", "split"] = ""
    is_random: bool = True
    inner: str = ""
    resampling: Literal["", "folds", "splits", "thirds"] = ""
    expected_failures: Mapping[str, str] = field(default_factory=dict)
