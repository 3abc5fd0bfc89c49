"""What a run records about itself when it starts: written by the runner, stored as JSON, read by analysis and report.

A stored run is reported where neither its suite file nor its plugins need to be, so whatever a report states about a
run is recorded here. A run of an earlier version lacks newer fields and gets their defaults; fields of the suite that
this version does not know are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from mfbench.errors import RunError
from mfbench.suite.published import PublishedFigure
from mfbench.suite.schema import Header, ProtocolSettings, Report, Selection, Top

if TYPE_CHECKING:
    from mfbench.suite.plan import Plan


def _known_fields(model: type[BaseModel]) -> BeforeValidator:
    """Return a validator that drops the keys a table of the suite had in another version."""

    def known(value: Any) -> Any:
        return {k: v for k, v in value.items() if k in model.model_fields} if isinstance(value, Mapping) else value

    return BeforeValidator(known)


class Environment(BaseModel):
    """Machine and software of a run, as in ``environment.json``.

    Attributes
    ----------
    mfbench, python, implementation, system, cpu : str
    cpus : int
        Processors that the run could use.
    memory_bytes : int
        Memory of the machine.
    jobs : int
        Worker processes.
    threads_per_worker : int
    memory_limit_bytes : int
        Memory limit of each worker.
    libraries : dict of str to (str or None)
        Versions; None for a library that is not installed.
    plugins : list of str
        Name and version of each plugin.
    git_commit : str or None
        Commit of the working directory, with "+changes" if it has any.
    command : list of str
        The words of the command line.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    mfbench: str
    python: str
    implementation: str = ""
    system: str = ""
    cpu: str
    cpus: int = 0
    memory_bytes: int = 0
    jobs: int
    threads_per_worker: int = 1
    memory_limit_bytes: int = 0
    libraries: dict[str, str | None]
    plugins: list[str] = []
    git_commit: str | None = None
    command: list[str] = []


class RecordedSuite(BaseModel):
    """The suite that ran: what reports read is typed, datasets, methods and profiles stay as they were written."""

    model_config = ConfigDict(frozen=True, extra="allow")

    suite: Annotated[Header, _known_fields(Header)]
    report: Annotated[Report, _known_fields(Report)] = Report()


class PublishedHeading(BaseModel):
    """Title and metric of a published table."""

    model_config = ConfigDict(frozen=True)

    title: str
    metric: str


class RecordedFigures(BaseModel):
    """The published figures about the run's cells, and the tables that they are from, by name."""

    model_config = ConfigDict(frozen=True)

    tables: dict[str, PublishedHeading] = {}
    figures: list[PublishedFigure] = []


class RunMetadata(BaseModel):
    """What the last start of a run recorded.

    Attributes
    ----------
    suite : RecordedSuite
    protocol : ProtocolSettings
        Complete: with the profile applied and every key of its kind set.
    protocol_key : str
        With a dataset's label, the name under which its splits are stored.
    profile : str
    published : RecordedFigures
    selection : dict of str to {"nested", "per-dataset"}
        Methods that are tuned, each with who chooses.
    methods : dict of str to str
        What each label stands for, in the suite's order.
    rules : dict of str to (str, int or float)
        ``top`` of each method.
    takes_numbers : list of str
        Methods whose selector takes a real-valued target as it is.
    real_valued : list of str
        Datasets with a real-valued target.
    environment : Environment
    command : list of str
        The command that starts the run again.
    out : str
        The folder of all reports.
    """

    model_config = ConfigDict(frozen=True)

    suite: RecordedSuite
    protocol: Annotated[ProtocolSettings, _known_fields(ProtocolSettings)]
    protocol_key: str
    profile: str
    published: RecordedFigures = RecordedFigures()
    selection: dict[str, Selection] = {}
    methods: dict[str, str]
    rules: dict[str, Top | Literal["relevant"]] = {}
    takes_numbers: list[str] = []
    real_valued: list[str] = []
    environment: Environment
    command: list[str]
    out: str = "reports"

    @property
    def name(self) -> str:
        """The suite's name."""
        return self.suite.suite.name

    @property
    def title(self) -> str:
        """The heading of the report."""
        return self.suite.suite.title or self.name

    @property
    def seed(self) -> int:
        """The suite's seed."""
        return self.suite.suite.seed

    @property
    def report(self) -> Report:
        """The suite's ``[report]``."""
        return self.suite.report

    def to_columns(self) -> dict[str, Any]:
        """Return one plain value for each field, as the store keeps them."""
        return self.model_dump(mode="json")

    @classmethod
    def from_columns(cls, columns: Mapping[str, Any], folder: Path) -> RunMetadata:
        """Return the metadata that a store keeps.

        Parameters
        ----------
        columns : mapping of str to object
            As `to_columns` returns them.
        folder : Path
            The run folder, for messages.

        Raises
        ------
        RunError
            If the run stopped before its first trial, or another version wrote what this one cannot read.
        """
        if "protocol" not in columns:
            raise RunError(f"{folder} contains a run that stopped before its first trial; run its command again")
        try:
            return cls.model_validate(columns)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(map(str, first["loc"]))
            raise RunError(
                f"this mfbench cannot read the run in {folder}: {field}: {first['msg']}; use the mfbench that wrote it"
            ) from error


def metadata_of(plan: Plan, folder: Path, environment: Environment) -> RunMetadata:
    """Return what the start of a plan's run records.

    Parameters
    ----------
    plan : Plan
    folder : Path
        The run folder.
    environment : Environment
    """
    loaded = plan.loaded
    tables = {table.name: PublishedHeading(title=table.title, metric=table.about.metric) for table in plan.published}
    return RunMetadata(
        suite=RecordedSuite.model_validate(loaded.suite.model_dump(mode="json")),
        protocol=loaded.protocol,
        protocol_key=plan.protocol.identity,
        profile=loaded.profile,
        published=RecordedFigures(tables=tables, figures=plan.figures),
        selection={label: method.selection for label, method in plan.methods.items() if method.grid},
        methods={label: method.describe() for label, method in plan.methods.items()},
        rules={label: method.top for label, method in plan.methods.items()},
        takes_numbers=[m.label for m in plan.methods.values() if m.selector is not None and m.selector.numbers],
        real_valued=[label for label, planned in plan.datasets.items() if planned.data.task == "regression"],
        environment=environment,
        command=["mfbench", "suite", *loaded.request, *(word for glob in plan.only for word in ("--only", glob))],
        out=folder.parent.parent.as_posix(),
    )
