"""The datasets that this plugin registers. Importing this module loads neither NumPy nor scikit-learn."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfbench import DatasetSpec, hookimpl
from mfbench_datasets.citations import DIABETES, TWO_VIEWS, TWO_VIEWS_OF_NUMBERS, attribution
from mfbench_datasets.ground_truth.specs import ground_truth_specs

if TYPE_CHECKING:
    from mfbench import Run, Section

_MEASURED, _RULE, _GENERATOR = ("uci", "measured"), ("uci", "rule"), ("uci", "generator")

# (name, summary, loader, (samples, features, classes), tags); the size of a generator is that of its default parameters
_TABLE = [
    ("iris", "Iris flowers: size of sepals and petals, three species", "installed:iris", (150, 4, 3), _MEASURED),
    ("wine", "Italian wines: chemical analysis, three cultivars", "installed:wine", (178, 13, 3), _MEASURED),
    ("wine-igt", "Italian wines: cultivars 1 and 2", "installed:wine_igt", (130, 13, 2), _MEASURED),
    (
        "wdbc",
        "Breast masses: measurements of cell nuclei, benign or malignant",
        "installed:wdbc",
        (569, 30, 2),
        _MEASURED,
    ),
    ("optdigits", "Handwritten digits: 8 x 8 pixel counts", "installed:optdigits", (1797, 64, 10), _MEASURED),
    ("monks-1", "MONK 1, all rows: a1 = a2 or a5 = 1", "enumerated:monks_1", (432, 6, 2), _RULE),
    ("monks-2", "MONK 2, all rows: exactly two of six features are 1", "enumerated:monks_2", (432, 6, 2), _RULE),
    (
        "monks-3",
        "MONK 3, all rows, no noise: a5 = 3 and a4 = 1, or a5 ≠ 4 and a2 ≠ 3",
        "enumerated:monks_3",
        (432, 6, 2),
        _RULE,
    ),
    ("balance-scale", "Balance scale: which side goes down?", "enumerated:balance_scale", (625, 4, 3), _RULE),
    ("tic-tac-toe", "Final boards of tic-tac-toe: has x won?", "enumerated:tic_tac_toe", (958, 9, 2), _RULE),
    ("waveform-21", "Noisy waves: 19 of 21 features are relevant", "generators:waveform_21", (5000, 21, 3), _GENERATOR),
    ("waveform-40", "Noisy waves: 19 of 40 features are relevant", "generators:waveform_40", (5000, 40, 3), _GENERATOR),
    ("led-7", "Faulty seven-segment digits", "generators:led_7", (1000, 7, 10), _GENERATOR),
    ("led-24", "Faulty seven-segment digits and 17 random bits", "generators:led_24", (1000, 24, 10), _GENERATOR),
]


@hookimpl
def mfbench_datasets() -> list[DatasetSpec]:
    """Return the UCI datasets that need no network."""
    return [
        DatasetSpec(
            name=name,
            summary=summary,
            loader=f"mfbench_datasets.{loader}",
            n_samples=n_samples,
            n_features=n_features,
            n_classes=n_classes,
            tags=tags,
            **attribution(name),
            **_collections().get(name, {}),
        )
        for name, summary, loader, (n_samples, n_features, n_classes), tags in _TABLE
    ]


@hookimpl(specname="mfbench_datasets")
def numbers() -> list[DatasetSpec]:
    """Return measured data whose target is a number."""
    return [
        DatasetSpec(
            name="diabetes",
            summary="Progression of diabetes in a year, by ten measurements",
            loader="mfbench_datasets.installed:diabetes",
            task="regression",
            n_samples=442,
            n_features=10,
            tags=("measured", "regression"),
            **DIABETES,
        )
    ]


@hookimpl(specname="mfbench_datasets")
def ground_truth() -> list[DatasetSpec]:
    """Return the ground-truth datasets, whose relevant features are known."""
    return ground_truth_specs()


@hookimpl(specname="mfbench_datasets")
def calibration() -> list[DatasetSpec]:
    """Return data on which methods are equally good by construction."""
    return [
        DatasetSpec(
            name="two-views",
            summary="Two independent views with the same distribution given the class",
            loader="mfbench_datasets.calibration:two_views",
            n_samples=100,
            n_features=10,
            n_classes=2,
            tags=("generator", "calibration"),
            **TWO_VIEWS,
        ),
        DatasetSpec(
            name="equal-views",
            summary="Independent views, as many as requested, with the same distribution given the class",
            loader="mfbench_datasets.calibration:equal_views",
            n_samples=100,
            n_features=100,
            n_classes=2,
            tags=("generator", "calibration"),
            **TWO_VIEWS,
        ),
        DatasetSpec(
            name="two-views-regression",
            summary="Two independent views with the same distribution given the number to predict",
            loader="mfbench_datasets.calibration:two_views_regression",
            task="regression",
            n_samples=100,
            n_features=10,
            tags=("generator", "calibration", "regression"),
            **TWO_VIEWS_OF_NUMBERS,
        ),
        DatasetSpec(
            name="clustered-views",
            summary="Two views with the same distribution given the class, in which rows of a group are alike",
            loader="mfbench_datasets.calibration:clustered_views",
            n_samples=100,
            n_features=10,
            n_classes=2,
            tags=("generator", "calibration"),
            **TWO_VIEWS,
        ),
    ]


@hookimpl(specname="mfbench_datasets")
def collections() -> list[DatasetSpec]:
    """Return the datasets of papers and of OpenML suites that are read from a mirror, the cache or the network."""
    embedded = {row[0] for row in _TABLE}
    return [
        DatasetSpec(
            name=name,
            **{"n_classes": len(fields.get("class_counts", ())) or None, **fields, "source": _source(fields)},
        )
        for name, fields in _collections().items()
        if name not in embedded
    ]


@cache
def _collections() -> dict[str, dict[str, Any]]:
    """Read collections.toml: the fields of `DatasetSpec` for each dataset."""
    return tomllib.loads(Path(__file__).with_name("collections.toml").read_text(encoding="utf-8"))


def _source(fields: dict[str, Any]) -> str:
    """Return the source in the table, or the repository's page of the dataset."""
    if "source" in fields:
        return str(fields["source"])
    if "uci_id" in fields:
        return f"UCI {fields['uci_id']}; https://archive.ics.uci.edu/dataset/{fields['uci_id']}"
    return f"OpenML {fields['openml_id']}; https://www.openml.org/d/{fields['openml_id']}"


@hookimpl
def mfbench_report_sections(run: Run) -> list[Section]:
    """Return the chart of true interactions against noise, if a run has several levels of it."""
    from mfbench_datasets.noise_chart import noise_sections

    return noise_sections(run)
