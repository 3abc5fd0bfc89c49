"""The rows of a bundle, validated before they are stored: types, cross-references, and array sizes."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import ValidationError

from mfbench.model.evaluation import CURVE_METRICS
from mfbench.model.trials import Candidate, Curve, Interactions, Status, TrialResult
from mfbench.run.store.formats import unpack, unpack_candidates, unpack_curve, unpack_interactions
from mfbench.run.store.metadata import RunMetadata
from mfbench.suite.protocols import derive_seed
from mfbench_claims.archive import RefusedBundleError, lines
from mfbench_claims.form import COLUMNS, ROWS
from mfbench_claims.recomputed_scores import Truth, wrong_score
from mfbench_claims.verification import Place

if TYPE_CHECKING:
    from numpy.typing import NDArray

_OF_SUCCESS = ("scores", "predictions", "decisions", "candidates", "curve")
_TIMES = ("select_wall", "select_cpu", "fit_wall", "fit_cpu", "predict_wall", "predict_cpu")
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Shape:
    """The dimensions of a dataset and a fold's test part."""

    tested: int  # test rows
    used: int  # features of the fold; the protocol `timing` uses subsets of the dataset's
    features: int  # features, classes: of the dataset
    classes: int


class ResultCheck:
    """Checks results under the protocol of a run."""

    def __init__(self, meta: RunMetadata) -> None:
        settings, kind, scores = meta.protocol, meta.design, meta.scores
        if missing := set(settings.metrics) - set(scores):
            raise RefusedBundleError(f"it does not say what its score {min(missing)!r} means")
        self._scores = scores
        self._predicts = kind.predicts
        self._metrics = tuple(name for name in settings.metrics if not (kind.predicts and name in CURVE_METRICS))
        # A round without a true pair has no pair scores.
        self._required = set(self._metrics) if kind.predicts else set()
        self._of_curve = CURVE_METRICS if kind.draws_curves else ()

    def check(self, row: Mapping[str, Any], shape: Shape, truth: Truth) -> None:
        """Check a row of the table ``trials``."""
        is_ok = row["status"] == Status.OK
        if not is_ok and any(row[name] for name in _OF_SUCCESS):
            raise RefusedBundleError("it failed, and yet has results")
        result = _result_of(row)
        self._check_fit(result, shape)
        _check_decisions(result, shape)
        for candidate in result.candidates:
            self._check_candidate(candidate, shape)
        if result.curve is not None:
            self._check_curve(result.curve, shape)
        is_complete = is_ok and not result.candidates
        self._check_scores(result.scores, () if result.curve is None else self._of_curve, is_complete=is_complete)
        if is_complete and self._predicts and result.predictions is None:
            raise RefusedBundleError("it has no predictions, although it is ok")
        if is_ok:
            try:
                wrong = wrong_score(result, truth, predicts=self._predicts)
            except (ValueError, ArithmeticError) as error:
                raise RefusedBundleError(f"its scores cannot be computed again: {error}") from None
            if wrong:
                raise RefusedBundleError(wrong)

    def _check_scores(self, scores: Any, of_curve: Iterable[str], *, is_complete: bool) -> None:
        """Check the scores of a result or of a grid point."""
        if not isinstance(scores, dict):
            raise RefusedBundleError("its scores have no names")
        for name, value in scores.items():
            if name not in self._metrics and name not in of_curve:
                raise RefusedBundleError("it has a score that its suite does not measure")
            if not _is_number(value):
                raise RefusedBundleError(f"its score {name!r} is not a number")
            self._check_values(name, np.array([value], dtype=np.float64))
        if is_complete and not (scores and self._required <= scores.keys()):
            raise RefusedBundleError("it has not all scores that its suite measures")

    def _check_values(self, name: str, values: NDArray[np.float64]) -> None:
        """Check scores, which may be undefined (NaN)."""
        low, high = self._range_of(name)
        if np.isinf(values).any():
            raise RefusedBundleError(f"its score {name!r} is not a number")
        if ((values < low - _ROUNDING) | (values > high + _ROUNDING)).any():
            raise RefusedBundleError(f"its score {name!r} is not between {low:g} and {high:g}")

    def _range_of(self, name: str) -> tuple[float, float]:
        if not self._predicts:
            return 0.0, 1.0  # all of them are shares
        # The area is a mean of the first score.
        return self._scores[self._metrics[0] if name in CURVE_METRICS else name].range

    def _check_fit(self, fit: TrialResult | Candidate, shape: Shape) -> None:
        """Check that a fit's results match the test rows of a fold and the features of a dataset."""
        if not isinstance(fit.chosen, dict):
            raise RefusedBundleError("its parameters have no names")
        for name, sizes in (("predictions", (shape.tested,)), ("weights", (shape.used, shape.features))):
            array = getattr(fit, name)
            if array is not None and (array.ndim != 1 or len(array) not in sizes):
                raise RefusedBundleError(f"its {name} are not {sizes[0]:,} numbers")
        if fit.weights is not None and self._predicts and not np.isfinite(fit.weights).all():
            raise RefusedBundleError("its weights are not finite")
        if fit.predictions is not None:
            if shape.classes:
                _check_range(fit.predictions, shape.classes, "predictions", "classes")
            elif not np.isfinite(fit.predictions).all():
                raise RefusedBundleError("its predictions are not finite numbers")
        if fit.selected is not None:
            _check_range(fit.selected, shape.features, "selected features")
            if len(np.unique(fit.selected)) < len(fit.selected):
                raise RefusedBundleError("its selected features have one twice")
        if fit.n_selected is not None and (
            type(fit.n_selected) is not int or not 0 <= fit.n_selected <= shape.features
        ):
            raise RefusedBundleError(f"its number of selected features is not one of 0 to {shape.features:,}")
        if fit.interactions is not None:
            _check_interactions(fit.interactions, shape)

    def _check_candidate(self, candidate: Candidate, shape: Shape) -> None:
        """Check a grid point."""
        seconds = [getattr(candidate, name) for name in _TIMES]
        if not all(_is_number(each) and 0 <= each < np.inf for each in seconds):
            raise RefusedBundleError("a time of a grid point is not a number of seconds")
        self._check_fit(candidate, shape)
        self._check_scores(candidate.scores, (), is_complete=True)
        if candidate.predictions is None:
            raise RefusedBundleError("a grid point has no predictions")

    def _check_curve(self, curve: Curve, shape: Shape) -> None:
        _check_range(curve.sizes - 1, shape.features, "sizes of a curve")
        if sorted(map(str, curve.metrics)) != sorted(self._metrics):
            raise RefusedBundleError("its curve has not each score of its suite once")
        for name, scores in zip(curve.metrics, curve.scores, strict=True):
            self._check_values(name, scores)
        if not (np.isfinite(curve.seconds).all() and (curve.seconds >= 0).all()):
            raise RefusedBundleError("a time of its curve is not a number of seconds")
        if len(curve.chosen) not in (0, len(curve.sizes)):
            raise RefusedBundleError("its curve does not have parameters for each size")
        if not all(isinstance(chosen, dict) for chosen in curve.chosen):
            raise RefusedBundleError("its parameters have no names")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _result_of(row: Mapping[str, Any]) -> TrialResult:
    """Return a stored result, as far as it can be checked."""
    return TrialResult(
        key="",
        scores=json.loads(row["scores"] or "{}"),
        chosen=json.loads(row["chosen"] or "{}"),
        n_selected=row["n_selected"],
        interactions=None if row["interactions"] is None else unpack_interactions(row["interactions"]),
        candidates=unpack_candidates(row["candidates"]) if row["candidates"] else [],
        curve=None if row["curve"] is None else unpack_curve(row["curve"]),
        selected=_unpacked(row["selected"]),
        weights=_unpacked(row["weights"]),
        predictions=_unpacked(row["predictions"]),
        decisions=_unpacked(row["decisions"]),
    )


def _unpacked(packed: bytes | None) -> NDArray[Any] | None:
    return None if packed is None else unpack(packed)


def _check_range(numbers: NDArray[Any], end: int, what: str, of: str = "features") -> None:
    if numbers.dtype.kind != "i" or (numbers.size and not 0 <= numbers.min() <= numbers.max() < end):
        raise RefusedBundleError(f"its {what} are not among the {end:,} {of} of its dataset")


def _check_decisions(result: TrialResult, shape: Shape) -> None:
    """Check the decisions of a result, and reshape them to one row per test row."""
    decisions = result.decisions
    if decisions is None:
        return
    # Trailing classes without rows have no column.
    columns, rest = divmod(decisions.size, shape.tested or 1)
    if result.predictions is None or rest or not 0 < columns <= shape.classes or decisions.dtype.kind != "i":
        raise RefusedBundleError("its decisions are not those of its test rows")
    if decisions.size and not 0 <= decisions.min() <= decisions.max() <= 1:
        raise RefusedBundleError("its decisions are not zeros and ones")
    result.decisions = decisions.reshape(shape.tested, columns)


def _check_interactions(interactions: Interactions, shape: Shape) -> None:
    _check_range(interactions.pairs, shape.features, "pairs of features")
    n_pairs, n_kept = interactions.n_pairs, len(interactions.pairs)
    columns = (interactions.values, interactions.ranks, interactions.p_values)
    if any(each is not None and each.shape != (n_kept,) for each in columns):
        raise RefusedBundleError("its pairs of features do not have a weight and a rank each")
    has_norm = _is_number(interactions.norm) and 0 <= interactions.norm < np.inf
    if not (has_norm and np.isfinite(interactions.values).all()):
        raise RefusedBundleError("the weights of its pairs of features are not finite")
    if type(n_pairs) is not int or n_pairs != shape.features * (shape.features - 1) // 2:
        raise RefusedBundleError("it has another number of pairs of features than its dataset")
    if n_kept and not 0 <= interactions.ranks.min() <= interactions.ranks.max() <= n_pairs:
        raise RefusedBundleError("the ranks of its pairs of features are not possible")


# Errors raised when decoding malformed content.
_UNREADABLE = (ValueError, TypeError, LookupError, OverflowError, AttributeError, RecursionError, zlib.error)
Row = dict[str, Any]


@dataclass(frozen=True)
class _Described:
    """Reference data for the results on a dataset."""

    row: Row
    n_classes: int
    codes: NDArray[Any]
    truth: Truth


class CheckedRows:
    """Reads the tables of a bundle, checking each row before returning it."""

    # Read the tables in the order of `mfbench_claims.form.COLUMNS`: later rows refer to earlier ones.

    def __init__(self, archive: zipfile.ZipFile, meta: RunMetadata) -> None:
        self._archive, self._meta = archive, meta
        self._folds, self._repeats = meta.design.folds, meta.design.repeats
        self._by_class = meta.design.decisions == "one-vs-rest"
        self.counts: dict[str, int] = {}
        self._datasets: dict[str, _Described] = {}
        self._samples: dict[str, int] = {}  # by dataset hash
        # By split: the numbers of test rows and features (which "timing" subsets), and the truth.
        self._splits: dict[tuple[str, str, int, int], tuple[int, int, Truth]] = {}
        self._planned: dict[str, Place] = {}
        self._places: set[Place] = set()
        self._results = ResultCheck(meta)

    def of(self, table: str) -> Iterator[Row]:
        """Yield the rows of a table, by column."""
        name, number = f"{table}.jsonl", 0
        check = getattr(self, f"_check_{table}", lambda row: None)
        for number, line in enumerate(lines(self._archive, name), 1):
            try:
                row = dict(zip(COLUMNS[table], ROWS[table].validate_json(line), strict=True))
                check(row)
            except ValidationError as error:
                first = error.errors(include_url=False, include_input=False)[0]
                place = first["loc"][0] if first["loc"] else None
                column = f", {COLUMNS[table][place]}" if isinstance(place, int) and place < len(COLUMNS[table]) else ""
                mistake = first["msg"].removeprefix("Value error, ")
                raise RefusedBundleError(f"row {number} of its member {name}{column}: {mistake}") from None
            except RefusedBundleError as refusal:
                raise RefusedBundleError(f"row {number} of its member {name}: {refusal}") from None
            except _UNREADABLE:
                raise RefusedBundleError(f"row {number} of its member {name} cannot be decoded") from None
            yield row
        self.counts[table] = number

    def _check_datasets(self, row: Row) -> None:
        """Check the description of a dataset."""
        label, classes = row["label"], _list_of(row, "class_names")
        for name, texts in (("class_names", classes), ("feature_names", _list_of(row, "feature_names"))):
            number = len(classes) if texts is classes else row["n_features"]
            if not all(isinstance(each, str) for each in texts) or len(texts) not in (0, number):
                raise RefusedBundleError(f"{name} is not a list of {number:,} texts")
        collections = json.loads(row["collections"] or "{}") or {}
        if not isinstance(collections, dict) or not all(isinstance(each, str) for each in collections.values()):
            raise RefusedBundleError("collections are not labels by name")
        codes = unpack(row["truth"])
        if len(codes) not in (0, row["n_samples"]):
            raise RefusedBundleError(f"{label!r} has another number of targets than of rows")
        if not classes and codes.dtype.kind == "f":
            if not np.isfinite(codes).all():
                raise RefusedBundleError(f"{label!r} has targets that are not finite numbers")
        elif codes.dtype.kind != "i" or (len(codes) and not 0 <= codes.min() <= codes.max() < len(classes)):
            raise RefusedBundleError(f"the classes of {label!r} are not those of its rows")
        self._datasets[label] = _Described(row, len(classes), codes, _checked_truth(row))
        self._samples[row["sha256"]] = row["n_samples"]

    def _check_splits(self, row: Row) -> None:
        """Check the rows of a fold."""
        if row["sha256"] not in self._samples:
            raise RefusedBundleError("it is of a dataset that the bundle does not have")
        rows = {name: unpack(row[name]) for name in ("test", "train", "validation") if row[name] is not None}
        for name, places in rows.items():
            _check_places(places, self._samples[row["sha256"]], name)
        label = row["protocol"].removeprefix(f"{self._meta.protocol_key}:")
        dataset = self._datasets.get(label)
        truth = Truth() if dataset is None else dataset.truth
        if dataset is not None and len(dataset.codes) and len(rows["test"]):
            train = rows.get("train", np.arange(len(dataset.codes)))  # the test rows complete the set of all rows
            weighted = label in self._meta.with_weights
            truth = Truth.of_rows(dataset.codes, train, rows["test"], by_class=self._by_class, has_weights=weighted)
        place = (row["sha256"], row["protocol"], row["repeat"], row["fold"])
        self._splits[place] = (len(rows["test"]), row["n_features"], truth)

    def _check_plan(self, row: Row) -> None:
        """Check a planned trial."""
        if row["dataset"] not in self._datasets or row["method"] not in self._meta.methods:
            raise RefusedBundleError("it is of a dataset or method that the bundle does not have")
        own = self._meta.splits.get(row["dataset"])
        repeats, folds = (self._repeats, self._folds) if own is None else (own.repeats, own.folds)
        if row["repeat"] >= repeats or row["fold"] >= folds:
            raise RefusedBundleError("its repeat or fold is not one of the protocol")
        place = (row["dataset"], row["method"], row["repeat"], row["fold"])
        if row["key"] in self._planned or place in self._places:
            raise RefusedBundleError("its key or its trial is there twice")
        self._planned[row["key"]] = place
        self._places.add(place)

    def _check_trials(self, row: Row) -> None:
        """Check the result of a planned trial."""
        place = self._planned.get(row["key"])
        if place is None:
            raise RefusedBundleError("its key is not one of the plan")
        label, _, repeat, fold = place
        if row["seed"] != derive_seed(self._meta.seed, *place):
            raise RefusedBundleError("its seed is not that of its trial")
        dataset = self._datasets[label]
        split = self._splits.get((dataset.row["sha256"], f"{self._meta.protocol_key}:{label}", repeat, fold))
        if split is None:
            raise RefusedBundleError("the bundle does not have the split of its fold")
        n_tested, n_used, truth = split
        self._results.check(row, Shape(n_tested, n_used, dataset.row["n_features"], dataset.n_classes), truth)


def _check_places(rows: NDArray[Any], n_samples: int, name: str) -> None:
    """Check the row numbers of a dataset."""
    if rows.dtype.kind != "i" or (len(rows) and not 0 <= rows.min() <= rows.max() < n_samples):
        raise RefusedBundleError(f"{name} are not among the {n_samples:,} rows of its dataset")
    if len(np.unique(rows)) < len(rows):
        raise RefusedBundleError(f"{name} have a row twice")


def _list_of(row: Mapping[str, Any], name: str) -> list[Any]:
    """Return a list that may be missing or empty."""
    content = json.loads(row[name] or "null") or []
    if not isinstance(content, list):
        raise RefusedBundleError(f"{name} is not a list")
    return content


def _checked_truth(row: Mapping[str, Any]) -> Truth:
    """Return the ground truth on a dataset's relevant features and pairs."""
    relevant, pairs = _list_of(row, "relevant"), _list_of(row, "interactions")
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise RefusedBundleError("interactions are not pairs")
    for feature in (*relevant, *(feature for pair in pairs for feature in pair)):
        if type(feature) is not int or not 0 <= feature < row["n_features"]:
            raise RefusedBundleError("its relevant features and pairs are not features of the dataset")
    return Truth(relevant=tuple(relevant), pairs=tuple((i, j) for i, j in pairs))
