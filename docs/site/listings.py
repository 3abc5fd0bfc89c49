"""The references of the site that are made from the code: commands, checks, methods, datasets, suites and bundles."""

from __future__ import annotations

import hashlib
import inspect
import json
import zipfile
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from mfbench.cli import app
from mfbench.host.expressions import Registered
from mfbench.host.factories import parameter_names
from mfbench.host.features import HOST
from mfbench.host.registry import Registry, load_registry
from mfbench.suite.loading import load_suite
from mfbench.suite.protocols import make_protocol
from mfbench.suite.resolve import resolve_methods
from mfbench_check.catalog import GROUPS, all_checks

ROOT = Path(__file__).resolve().parents[2]
BUILT_IN = (
    "audit",
    "baselines",
    "controlled",
    "datasets",
    "information",
    "margin",
    "regression",
    "relevance",
    "similarity",
    "sqpfw",
    "suites",
)
PROFILES = ("full", "as-published")


def built_in_registry() -> Registry:
    """Return the registry of the built-in plugins alone, even if others are installed."""
    return load_registry(strict=True, only=BUILT_IN)


def table(columns: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table.

    Parameters
    ----------
    columns : list of str
        Column names.
    rows : list of list of str
        Cells as Markdown; line breaks and bars are escaped here.

    Returns
    -------
    str
    """
    lines = [columns, ["---"] * len(columns), *([_escape(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _escape(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


# -- commands ----------------------------------------------------------------------------------------------------------


def commands() -> Iterator[tuple[str, Any]]:
    """Yield (words, command) for each built-in command that does something, groups left out."""

    def walk(command: Any, words: str) -> Iterator[tuple[str, Any]]:
        children = getattr(command, "commands", None)
        if children is None:
            yield words, command
        for name, child in (children or {}).items():
            yield from walk(child, f"{words} {name}")

    specs = typer.main.get_command(app).commands
    for name, (_, distribution) in specs.specs.items():
        if distribution == HOST:
            yield from walk(specs[name], f"mfbench {name}")


def command_line() -> str:
    """Return the page of all commands, from their declarations: the layout of help differs by version."""
    parts = ["# Command line\n", "What `mfbench COMMAND --help` prints. `python -m mfbench` runs the same commands.\n"]
    parts += ["## Before the command\n", _parameters(typer.main.get_command(app).params)]
    for words, command in commands():
        arguments = [_metavar(param) for param in command.params if param.param_type_name == "argument"]
        parts += [f"## {words}\n", f"    {' '.join([words, '[OPTIONS]', *arguments])}\n", f"{command.help.strip()}\n"]
        parts.append(_parameters(command.params))
    return "\n".join(parts)


def _parameters(params: list[Any]) -> str:
    rows = []
    for param in params:
        text, default = _split_default(param)
        rows.append([_names(param), default, text])
    return table(["name", "default", "meaning"], rows)


def _names(param: Any) -> str:
    if param.param_type_name == "argument":
        return f"`{_metavar(param)}`"
    value = "" if param.is_flag else f" {_metavar(param)}"
    return ", ".join(f"`{option}{value}`" for option in param.opts)


def _metavar(param: Any) -> str:
    return str(param.metavar or param.name.upper())


def _split_default(param: Any) -> tuple[str, str]:
    text, _, default = (param.help or "").partition(" [default: ")
    if default:
        return text, default.rstrip("]")
    if param.param_type_name == "argument" and param.required:
        return text, "required"
    shown = param.default if isinstance(param.default, int | str | Path) and not param.is_flag else None
    return text, "–" if shown is None else f"`{shown}`"


# -- checks ------------------------------------------------------------------------------------------------------------


def checks(registry: Registry) -> str:
    """Return the page of the checks of ``mfbench check``, and of the failures that built-in specs declare.

    Parameters
    ----------
    registry : Registry
        The built-in plugins.

    Returns
    -------
    str
    """
    lines = [
        "# Checks",
        "",
        "[How to check a plugin](plugins.md#checks). `mfbench check --list` prints a line for each.",
    ]
    for group, heading in GROUPS.items():
        lines += ["", f"## {heading}"]
        for check in all_checks():
            if check.group == group:
                applies = " and ".join(f"{kind}s" for kind in check.kinds)
                text = f"{check.summary} {check.details} Applies to {applies}.".replace("``", "`")
                lines += ["", f"### `{check.id}`", "", text]
    rows = [
        [f"`{name}`", kind, f"`{check}`", reason]
        for kind in ("selector", "classifier", "regressor", "metric", "dataset")
        for name, entry in sorted(registry.listed(kind).items())
        for check, reason in entry.spec.expected_failures.items()
    ]
    lines += ["", "## Failures that built-in methods declare", "", table(["name", "kind", "check", "reason"], rows)]
    return "\n".join(lines)


# -- methods and datasets ----------------------------------------------------------------------------------------------


def methods(entries: dict[str, Registered], link: Callable[[str], str], *, anchors: frozenset[str]) -> str:
    """Return the table of selectors, classifiers or regressors.

    Parameters
    ----------
    entries : dict of str to Registered
        By name.
    link : callable
        Takes a name and returns the address of the page of its class.
    anchors : frozenset of str
        The names whose row others link to.

    Returns
    -------
    str
    """
    rows = []
    for name, entry in sorted(entries.items()):
        spec = entry.spec
        tags = [*spec.tags, *(["raw input"] if getattr(spec, "raw_input", False) else [])]
        anchor = f'<a id="{name}"></a>' if name in anchors else ""
        grid = _values({key: list(values) for key, values in spec.grid.items()})
        first = f"{anchor}[`{name}`]({link(name)})"
        rows.append([first, spec.summary, spec.paper or "–", _values(spec.defaults), grid, ", ".join(tags)])
    return table(["name", "what it is", "paper", "defaults", 'grid of `tune = "default"`', "tags"], rows)


def metrics(registry: Registry) -> str:
    """Return the table of metrics.

    Parameters
    ----------
    registry : Registry
        The built-in plugins.

    Returns
    -------
    str
    """
    rows = []
    for name, entry in sorted(registry.listed("metric").items()):
        spec = entry.spec
        own = set(parameter_names(entry)) - set(spec.defaults)
        better = "greater" if spec.greater_is_better else "smaller"
        bounds = " to ".join(f"{bound:g}".replace("inf", "∞") for bound in spec.range)
        parameters = ", ".join(f"`{parameter}`" for parameter in sorted(own)) or "–"
        rows.append([f"`{name}`", spec.summary, spec.needs, bounds, better, parameters])
    return table(["name", "what it is", "needs", "range", "better", "parameters"], rows)


def _values(values: dict[str, Any]) -> str:
    return "<br>".join(f"`{key}={value!r}`" for key, value in values.items()) or "–"


def datasets(registry: Registry) -> str:
    """Return the page of the datasets.

    Parameters
    ----------
    registry : Registry
        The built-in plugins.

    Returns
    -------
    str
    """
    rows = []
    for name, entry in sorted(registry.listed("dataset").items()):
        spec = entry.spec
        sizes = [str(size) for size in (spec.n_samples, spec.n_features, spec.n_classes)]
        labels = "<br>".join(f"`{collection}`: {label}" for collection, label in spec.collections.items())
        notes = [spec.note, f"Parameters: {_parameters_of(spec.loader)}" if _parameters_of(spec.loader) else ""]
        rows.append([f"`{name}`", spec.summary, *sizes, labels or "–", "<br>".join(filter(None, notes)) or "–"])
        rows[-1] += [spec.source, spec.license, spec.citation]
    columns = ["name", "what it is", "rows", "features", "classes", "label by collection", "note"]
    return "\n".join(
        [
            "# Built-in datasets",
            "",
            "`mfbench datasets list` and `mfbench datasets show NAME` print the same, and where a dataset is "
            "([Data](data.md)). Sizes are those after the preparation.",
            "",
            table([*columns, "source", "licence", "cite"], rows),
        ]
    )


def _parameters_of(loader: Any) -> str:
    """Return the parameters of a dataset that is generated, with their defaults."""
    if isinstance(loader, str):
        module, _, name = loader.partition(":")
        loader = getattr(import_module(module), name)
    parameters = inspect.signature(loader).parameters.values() if loader else ()
    return ", ".join(f"`{parameter.name}={parameter.default!r}`" for parameter in parameters)


# -- suites and bundles ------------------------------------------------------------------------------------------------


def columns(registry: Registry) -> str:
    """Return the page of what each column runs, for each suite that compares with a paper.

    Parameters
    ----------
    registry : Registry
        The built-in plugins.

    Returns
    -------
    str
    """
    lines = [
        "# What each column runs",
        "",
        "The columns of the suites that compare with a paper: selector, rule for the features, classifier and, in "
        "brackets, the values that are tried. [Suites](suites.md#what-each-column-runs) says where the papers leave a "
        "choice.",
    ]
    for path in sorted((ROOT / "suites").glob("*.toml")):
        if "as-published" not in load_suite(str(path), registry, "full").suite.profiles:
            continue
        lines += ["", f"## `{path.stem}`", ""]
        resolved = {}
        for name in PROFILES:
            loaded = load_suite(str(path), registry, name)
            resolved[name] = resolve_methods(loaded, registry)[0]
            protocol = make_protocol(loaded.spec, loaded.protocol.model_dump(), loaded.suite.suite.seed)
            tuned = any(method.selection == "per-dataset" for method in resolved[name].values())
            lines.append(f"- `{name}`: {protocol.describe()}{', tuned per dataset' if tuned else ''}")
        rows = []
        for label in resolved["as-published"]:
            texts = [resolved[name][label].describe() if label in resolved[name] else "–" for name in PROFILES]
            full, published = (text.replace("; per dataset]", "]") for text in texts)
            rows.append([label, full, "the same" if full == published else published])
        lines += ["", table(["column", *(f"`{name}`" for name in PROFILES)], rows)]
    return "\n".join(lines)


def bundles() -> str:
    """Return the table of the bundles in the checkout, and the versions of the libraries that they are from."""
    rows = []
    versions = set()
    for path in sorted((ROOT / "reports").glob("*/claim.zip")):
        content = path.read_bytes()
        with zipfile.ZipFile(path) as archive:
            manifest, metadata = (json.loads(archive.read(f"{name}.json")) for name in ("manifest", "metadata"))
        run = f"{manifest['suite']}, {manifest['profile']}" + (f", {metadata['part']}" if metadata["part"] else "")
        run += "".join(f", `{glob}`" for glob in metadata["only"])
        size, digest = f"{len(content) / 2**20:.1f} MB", hashlib.sha256(content).hexdigest()
        rows.append([f"`{path.relative_to(ROOT)}`", run, f"{manifest['results']:,}", size, f"`{digest}`"])
        libraries = metadata["code"]["libraries"]
        versions.add(" ".join(f"{name}=={libraries[name]}" for name in sorted(libraries)))
    commands = [f"$ pip install {words}" for words in sorted(versions)]
    listing = table(["bundle", "what ran", "results", "size", "SHA-256"], rows)
    return "\n".join([listing, "The libraries that the results are from:", "", "```console", *commands, "```", ""])
