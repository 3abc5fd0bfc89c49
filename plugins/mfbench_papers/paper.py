"""The description of a paper: a TOML file in a package, which the entry points ``mfbench.papers`` name."""

from __future__ import annotations

from importlib.resources import files
from typing import Literal

from pydantic import Field, ValidationError

from mfbench.errors import UnknownNameError, UsageError
from mfbench.host.features import entries
from mfbench.suite.loading import parse_toml
from mfbench.suite.schema import Part
from mfbench.suite.validation_messages import describe

GROUP = "mfbench.papers"


class RunOptions(Part):
    """Options of ``mfbench suite``."""

    profile: str | None = Field(default=None, description="A profile of the suite.")
    part: str | None = Field(default=None, description="A part of the suite.")
    only: list[str] = Field(default=[], description="Labels of datasets and methods.")
    reference: str | None = Field(default=None, description="Label of the method to compare with.")


class PaperRun(Part):
    """A run that computes tables of the paper."""

    suite: str = Field(description="Name of the suite.")
    tables: list[str] = Field(default=[], description="The published tables with which the suite compares.")
    quick: RunOptions = Field(description="A run of some minutes.")
    whole: RunOptions = Field(description="The run in full.")


class Statement(Part):
    """A statement about methods of a suite that has no number; every dataset of it is tested."""

    text: str = Field(description="What the paper says, in our words.")
    suite: str = Field(description="Name of a suite of the paper.")
    datasets: list[str] = Field(min_length=1, description="Labels of datasets.")
    method: str = Field(description="Label of a method.")
    figure: str = Field(description="A score of the suite's trials.")
    relation: Literal["above", "below", "equal"] = Field(description="How its score compares.")
    to: str | float = Field(description="Label of another method or, with generated data, a number.")
    margin: float = Field(default=0.02, gt=0.0, description="Scores that differ by less are equal.")


class Erratum(Part):
    """A printed statement that is wrong, or that fails in some cases."""

    where: str = Field(description="Equation, section or table.")
    printed: str = Field(description="What the paper has.")
    ours: str = Field(description="What is computed here.")
    evidence: str = Field(description="How one can see it.")


class Remark(Part):
    """What is done otherwise here, or cannot be computed."""

    what: str = Field(description="The step, table, figure, dataset or method.")
    why: str = Field(description="The reason, and its effect where it was measured.")


class Paper(Part):
    """A paper."""

    title: str = Field(description="Short title, with the year.")
    citation: str = Field(description="Authors, title, where it appeared.")
    protocol: str = Field(description="How the paper measures, in a sentence or two.")
    runs: list[PaperRun] = Field(min_length=1, description="What computes its figures.")
    statements: list[Statement] = Field(default=[], description="Statements without a number that the runs test.")
    errata: list[Erratum] = Field(default=[], description="Printed statements that are wrong.")
    deviations: list[Remark] = Field(default=[], description="What is done otherwise here.")
    missing: list[Remark] = Field(default=[], description="What cannot be computed.")


def papers() -> list[str]:
    """Return the names of all papers."""
    return sorted(entries(GROUP)[0])


def read_paper(name: str) -> Paper:
    """Return a paper.

    Raises
    ------
    UnknownNameError
        If no package has it.
    UsageError
        If its file cannot be read.
    """
    if name not in entries(GROUP)[0]:
        raise UnknownNameError("paper", name, papers())
    package = entries(GROUP)[0][name].value
    try:
        text = (files(package) / f"{name}.toml").read_text(encoding="utf-8")
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise UsageError(f"the paper {name!r} of the package {package!r} cannot be read: {reason}") from error
    source = f"{package}/{name}.toml"
    data = parse_toml(text, source)
    try:
        return Paper.model_validate(data)
    except ValidationError as error:
        raise UsageError(f"{source}: {describe(error, Paper, data)[0]}") from None
