"""The parts of a report: `Section` and the `Table`, `Cell` and `Chart` objects in it.

Plugins build sections from them, so this module must stay light: importing it loads neither NumPy nor pandas. The texts
contain untrusted names of datasets, features and methods, so each class sanitizes its own texts with
`mfbench.base.text`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from mfbench.base.text import plain, plain_lines

if TYPE_CHECKING:
    import pandas as pd

Role = Literal["plain", "best", "not-worse", "missing", "marked", "best-marked", "above", "below", "equivalent"]


@dataclass(frozen=True)
class Cell:
    """One entry of a table.

    Parameters
    ----------
    text : str
        Displayed text.
    role : str, default="plain"
        Display style: "plain"; "best"; "not-worse" (not significantly worse than the best); "missing" for a value that
        is absent or incomplete; "above", "below" and "equivalent" to a published figure; "marked" and "best-marked" if
        the text ends with the mark of a test. The text of a "not-worse", "above", "below" or "equivalent" cell ends
        with a mark too.

    Examples
    --------
    >>> Cell("98.1 ± 0.4", "best").role
    'best'
    """

    text: str
    role: Role = "plain"

    def __post_init__(self) -> None:
        _make_plain(self, "text")


@dataclass
class Table:
    """Rows of cells under column names.

    Parameters
    ----------
    columns : list of str
        Column names, possibly of several lines. The first column contains the row names.
    rows : list of list of Cell, default=[]
        Each row has one cell per column.
    title : str, default=""
        Heading of the table within its section; not needed for a section with a single table.
    footer_rows : int, default=0
        Number of total rows at the end.
    wrap : int or None, default=None
        Index of a column whose text may be wrapped.
    """

    columns: list[str]
    rows: list[list[Cell]] = field(default_factory=list)
    title: str = ""
    footer_rows: int = 0
    wrap: int | None = None

    def __post_init__(self) -> None:
        _make_plain(self, "title")
        _make_plain(self, "columns", form=plain_lines)


@dataclass(frozen=True)
class Chart:
    """A picture, drawn on request.

    Parameters
    ----------
    name : str
        Short name without spaces, e.g. "critical-difference": the value of ``--figure`` and part of file names.
    title : str
        Heading.
    caption : str, default=""
        Caption below the picture.
    text : callable or None, default=None
        Takes a width in characters and returns the picture as lines of text. A chart without it is shown neither on the
        terminal nor in Markdown.
    spec : callable or None, default=None
        Takes no argument and returns an Altair chart, or a Vega-Lite specification as a dictionary, from which pages,
        pictures and exported data are made. It must be self-contained.
    alt : callable or None, default=None
        Takes no argument and returns a description of the picture for readers who cannot see it; if None, the title is
        used.
    """

    name: str
    title: str
    caption: str = ""
    text: Callable[[int], Sequence[str]] | None = None
    spec: Callable[[], Any] | None = None
    alt: Callable[[], str] | None = None

    def __post_init__(self) -> None:
        _make_plain(self, "name", "title", "caption")

    def lines(self, width: int) -> list[str]:
        """Return the picture as lines of text; empty if the chart has no text form.

        Parameters
        ----------
        width : int
            Characters per line.
        """
        return [] if self.text is None else [plain(line) for line in self.text(width)]


@dataclass(frozen=True)
class Section:
    """A section of a report. Every report format renders the same sections.

    Parameters
    ----------
    title : str
        Heading.
    tables : sequence of Table, default=()
    charts : sequence of Chart, default=()
    notes : sequence of str, default=()
        Sentences below the tables and charts.
    data : mapping of str to callable, default={}
        Values of the JSON report by key. Each callable takes no argument and returns a DataFrame or plain values; it is
        called only for a JSON report.
    rows : callable or None, default=None
        Takes no argument and returns the frames that the section contributes to the CSV report. Ignored in the sections
        of plugins.
    leads : bool, default=False
        Whether a plugin's section comes before those of mfbench instead of after them. The short report on a terminal
        shows the tables of the first one.
    plugin : str, default=""
        Name of the plugin that added the section; set by mfbench.

    Examples
    --------
    >>> table = Table(["method", "cost"], [[Cell("RF"), Cell("0.3")]])
    >>> Section("Costs", [table], notes=["Cost: in euro."]).has_content
    True
    """

    title: str
    tables: Sequence[Table] = ()
    charts: Sequence[Chart] = ()
    notes: Sequence[str] = ()
    data: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    rows: Callable[[], Sequence[pd.DataFrame]] | None = None
    leads: bool = False
    plugin: str = ""

    def __post_init__(self) -> None:
        _make_plain(self, "title", "notes")

    @property
    def has_content(self) -> bool:
        """Whether there is anything to read; a section may exist for its data alone."""
        return bool(self.tables or self.charts or self.notes)

    def check(self) -> None:
        """Check the types of all parts, and that every row has one cell per column.

        Raises
        ------
        ValueError
            If a part is invalid; the message names it.
        """
        for name, parts, kind in (("tables", self.tables, Table), ("charts", self.charts, Chart)):
            _require(_is_list_of(parts, kind), f"{name} must be {kind.__name__} objects")
        _require(isinstance(self.title, str), "the title must be a string")
        _require(_is_list_of(self.notes, str), "notes must be a list of strings")
        is_of_functions = isinstance(self.data, Mapping) and all(map(callable, self.data.values()))
        _require(is_of_functions, "data must be a dictionary of functions")
        for table in self.tables:
            _check_table(table)
        for chart in self.charts:
            texts = (chart.name, chart.title, chart.caption)
            _require(all(isinstance(text, str) for text in texts), "name, title and caption of a chart must be strings")


@dataclass(frozen=True)
class Report:
    """A report: a heading and a list of sections.

    Parameters
    ----------
    title : str
        Heading.
    setting : str
        How the numbers were obtained: one sentence without a full stop.
    sections : sequence of Section
    data : mapping, default={}
        Plain values at the head of the JSON report.
    environment : str, default=""
        Versions and machine, for saved files.
    answer : sequence of str, default=()
        The outcome in a few sentences.
    problems : sequence of str, default=()
        One sentence each for what was left out, failed or has not run.
    """

    title: str
    setting: str
    sections: Sequence[Section]
    data: Mapping[str, Any] = field(default_factory=dict)
    environment: str = ""
    answer: Sequence[str] = ()
    problems: Sequence[str] = ()

    def __post_init__(self) -> None:
        _make_plain(self, "title", "setting", "environment", "answer", "problems")

    def chart(self, name: str) -> Chart | None:
        """Return the chart of this name, or None if the report lacks it."""
        charts = (chart for section in self.sections for chart in section.charts)
        return next((chart for chart in charts if chart.name == name), None)

    @property
    def drawable(self) -> list[Chart]:
        """The charts with a specification."""
        return [chart for section in self.sections for chart in section.charts if chart.spec is not None]


def _make_plain(noun: object, *names: str, form: Callable[[str], str] = plain) -> None:
    """Sanitize attributes that are texts or lists of texts; `Section.check` reports all other types."""
    for name in names:
        value = getattr(noun, name)
        if isinstance(value, str):
            safe: object = form(value)
        elif isinstance(value, list | tuple):
            safe = type(value)(form(item) if isinstance(item, str) else item for item in value)
        else:
            continue
        if safe != value:
            object.__setattr__(noun, name, safe)


def _check_table(table: Table) -> None:
    width = len(table.columns)
    _require(isinstance(table.title, str), "the title of a table must be a string")
    _require(width > 0, "a table must have a column")
    _require(_is_list_of(table.columns, str), "column names must be a list of strings")
    for row in table.rows:
        _require(len(row) == width, f"a row has {len(row)} cells, its table {width} columns")
        _require(all(isinstance(cell, Cell) for cell in row), "rows must consist of Cell objects")
        for cell in row:
            _require(isinstance(cell.text, str), f"the text of a cell must be a string, not {cell.text!r}")
    _require(table.footer_rows in range(len(table.rows) + 1), "footer_rows must be a number of rows that the table has")
    _require(table.wrap is None or table.wrap in range(width), "wrap must be the index of a column")


def _is_list_of(parts: object, kind: type) -> bool:
    return isinstance(parts, Sequence) and not isinstance(parts, str) and all(isinstance(part, kind) for part in parts)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)
