"""The generated parts of the documentation: commands, checks, built-in methods, suites and bundles.

``python tests/docs/generated.py`` rewrites them; tests/docs/test_docs.py compares them with what this module returns.
"""

import hashlib
import json
import re
import textwrap
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
BUILT_IN = ("baselines", "datasets", "margin", "relevance", "similarity", "sqpfw", "suites")
_BLOCK = re.compile(r"<!-- generated: ([\w-]+) -->\n(.*?)<!-- /generated -->", re.DOTALL)


def blocks(text):
    """Return the generated blocks of a document: {name: content}."""
    return dict(_BLOCK.findall(text))


def with_blocks(text, contents):
    """Return a document with the content of its generated blocks replaced."""
    return _BLOCK.sub(lambda match: f"<!-- generated: {match[1]} -->\n{contents[match[1]]}<!-- /generated -->", text)


def expected():
    """Return the content that every generated block must have: {document: {block: content}}."""
    registry = built_in_registry()
    return {
        "claims.md": {"bundles": _bundles()},
        "checks.md": {"checks": _checks(), "declared": _declared(registry)},
        "cli.md": {"cli": command_line()},
        "suites.md": {"columns": _columns(registry)},
        "methods.md": {
            "selectors": _methods(registry.selectors),
            "classifiers": _methods(registry.classifiers),
            "datasets": _datasets(registry.datasets),
        },
    }


def _bundles():
    """Return the table of the bundles in the checkout, and the versions of the libraries that they are from."""
    rows = ["| bundle | what ran | results | size | SHA-256 |", "| --- | --- | ---: | ---: | --- |"]
    versions = set()
    for path in sorted((ROOT / "reports").glob("*/claim.zip")):
        content = path.read_bytes()
        with zipfile.ZipFile(path) as archive:
            manifest, metadata = (json.loads(archive.read(f"{name}.json")) for name in ("manifest", "metadata"))
        run = f"{manifest['suite']}, {manifest['profile']}" + (f", {metadata['part']}" if metadata["part"] else "")
        run += "".join(f", `{glob}`" for glob in metadata["only"])
        size, digest = f"{len(content) / 2**20:.1f} MB", hashlib.sha256(content).hexdigest()
        rows.append(f"| `{path.relative_to(ROOT)}` | {run} | {manifest['results']:,} | {size} | `{digest}` |")
        versions.add(
            " ".join(f"{name}=={metadata['code']['libraries'][name]}" for name in sorted(metadata["code"]["libraries"]))
        )
    lines = [f"$ pip install {words}" for words in sorted(versions)]
    return "\n".join(["", *rows, "", "```console", *lines, "```", ""]) + "\n"


def built_in_registry():
    """Return the registry of the built-in plugins alone, whatever else is installed."""
    from mfbench.host.registry import load_registry

    return load_registry(strict=True, only=BUILT_IN)


def commands():
    """Yield (words, command) for each built-in command that does something, groups left out."""
    import typer

    from mfbench.cli import app
    from mfbench.host.features import HOST

    def walk(command, words):
        children = getattr(command, "commands", None)
        if children is None:
            yield words, command
        for name, child in (children or {}).items():
            yield from walk(child, f"{words} {name}")

    table = typer.main.get_command(app).commands
    for name, (_, distribution) in table.specs.items():
        if distribution == HOST:
            yield from walk(table[name], f"mfbench {name}")


def general_options():
    """Return the options that stand before the command's name."""
    import typer

    from mfbench.cli import app

    return typer.main.get_command(app).params


def command_line():
    """Return the commands with their arguments and options, from the declarations: help layouts differ by version."""
    parts = ["## Before the command\n", _parameters(general_options())]
    for words, command in commands():
        arguments = [_metavar(p) for p in command.params if p.param_type_name == "argument"]
        parts += [f"## {words}\n", f"    {' '.join([words, '[OPTIONS]', *arguments])}\n", f"{command.help.strip()}\n"]
        parts.append(_parameters(command.params))
    return "\n" + "\n".join(parts) + "\n"


def _parameters(params):
    lines = ["| name | default | meaning |", "| --- | --- | --- |"]
    for param in params:
        help_text, default = _split_default(param)
        lines.append(f"| {_names(param)} | {default} | {_escape(help_text)} |")
    return "\n".join(lines) + "\n"


def _names(param):
    if param.param_type_name == "argument":
        return f"`{_escape(_metavar(param))}`"
    value = "" if param.is_flag else f" {_escape(_metavar(param))}"
    return ", ".join(f"`{option}{value}`" for option in param.opts)


def _metavar(param):
    return param.metavar or param.name.upper()


def _split_default(param):
    text, _, default = (param.help or "").partition(" [default: ")
    if default:
        return text, default.rstrip("]")
    if param.param_type_name == "argument" and param.required:
        return text, "required"
    shown = param.default if isinstance(param.default, int | str | Path) and not param.is_flag else None
    return text, "–" if shown is None else f"`{shown}`"


def _columns(registry):
    """Return, for each suite that compares with a paper, what its compared columns run in the two profiles."""
    from mfbench.suite.loading import load_suite
    from mfbench.suite.protocols import make_protocol
    from mfbench.suite.resolve import resolve_methods

    profiles = ("full", "as-published")
    lines = []
    for path in sorted((ROOT / "suites").glob("*.toml")):
        if "as-published" not in load_suite(str(path), registry, "full").suite.profiles:
            continue
        lines += ["", f"### `{path.stem}`", ""]
        methods = {}
        for name in profiles:
            loaded = load_suite(str(path), registry, name)
            methods[name] = resolve_methods(loaded, registry)[0]
            protocol = make_protocol(loaded.protocol.model_dump(), loaded.suite.suite.seed)
            tuned = any(method.selection == "per-dataset" for method in methods[name].values())
            lines.append(f"- `{name}`: {protocol.describe()}{', tuned per dataset' if tuned else ''}")
        lines += ["", "| column | `full` | `as-published` |", "| --- | --- | --- |"]
        for label in methods["as-published"]:
            texts = [methods[name][label].describe() if label in methods[name] else "–" for name in profiles]
            texts = [text.replace("; per dataset]", "]") for text in texts]
            cells = [label, texts[0], "the same" if texts[0] == texts[1] else texts[1]]
            lines.append("| " + " | ".join(_escape(cell) for cell in cells) + " |")
    return "\n".join(lines) + "\n\n"


def _methods(table):
    lines = ['| name | what it is | paper | parameters | grid of `tune = "default"` | tags |', "| --- " * 6 + "|"]
    for name, entry in sorted(table.items()):
        spec = entry.spec
        tags = [*spec.tags, *(["raw input"] if getattr(spec, "raw_input", False) else [])]
        cells = [
            f"[`{name}`](#{name})",
            spec.summary,
            spec.paper or "–",
            _values(spec.defaults),
            _values({key: list(values) for key, values in spec.grid.items()}),
            ", ".join(tags),
        ]
        lines.append("| " + " | ".join(_escape(cell) for cell in cells) + " |")
    return "\n" + "\n".join(lines) + "\n\n"


def _values(values):
    return "<br>".join(f"`{key}` = `{value!r}`" for key, value in values.items()) or "–"


def _datasets(table):
    columns = ["name", "what it is", "rows", "features", "classes", "source", "licence", "cite"]
    lines = ["| " + " | ".join(columns) + " |", "| --- " * len(columns) + "|"]
    for name, entry in sorted(table.items()):
        spec = entry.spec
        sizes = [str(size) for size in (spec.n_samples, spec.n_features, spec.n_classes)]
        cells = [f"[`{name}`](#{name})", spec.summary, *sizes, spec.source, spec.license, spec.citation]
        lines.append("| " + " | ".join(_escape(cell) for cell in cells) + " |")
    return "\n" + "\n".join(lines) + "\n\n"


def _checks():
    """Return a section for each group of checks, with a paragraph for each check from its docstring."""
    from mfbench_check.catalog import GROUPS
    from mfbench_check.listing import all_checks

    lines = []
    for group, heading in GROUPS.items():
        lines += ["", f"### {heading}"]
        for check in all_checks():
            if check.group == group:
                applies = " and ".join(f"{kind}s" for kind in check.kinds)
                text = f"{check.summary} {check.details} Applies to {applies}.".replace("``", "`")
                filled = textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)
                lines += ["", f"#### `{check.id}`", "", filled]
    return "\n".join(lines) + "\n\n"


def _declared(registry):
    """Return the failures that the specs of built-in plugins declare."""
    lines = ["| name | kind | check | reason |", "| --- " * 4 + "|"]
    tables = {"selector": registry.selectors, "classifier": registry.classifiers, "dataset": registry.datasets}
    for kind, table in tables.items():
        for name, entry in sorted(table.items()):
            for check, reason in entry.spec.expected_failures.items():
                cells = [f"`{name}`", kind, f"`{check}`", reason]
                lines.append("| " + " | ".join(_escape(cell) for cell in cells) + " |")
    return "\n" + "\n".join(lines) + "\n\n"


def _escape(text):
    return " ".join(text.split()).replace("|", "\\|")


def main():
    """Rewrite the generated blocks of all documents."""
    for name, contents in expected().items():
        path = DOCS / name
        path.write_text(with_blocks(path.read_text(encoding="utf-8"), contents), encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
