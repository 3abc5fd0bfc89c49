"""Render the files of a plugin package from answers, by copier's rules, so that both create the same files."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import jinja2
import yaml
from jinja2.sandbox import SandboxedEnvironment

from mfbench.errors import MfbenchError, UsageError, explained

# Where `copier update` finds later versions of the template, one per tag.
REPOSITORY = "https://github.com/mfbench/mfbench"
PARTS = ("selector", "classifier", "regressor", "metric", "splitter", "dataset", "suite")
_FOLDER = Path(__file__).parent
_TEMPLATE = _FOLDER / "template"
_SUFFIX = ".jinja"
_ANSWERS_FILE = ".copier-answers.yml"


def render(name: str, parts: Collection[str] = PARTS) -> dict[str, str]:
    """Return the files of a plugin package."""
    questions = yaml.safe_load((_FOLDER / "questions.yml").read_text(encoding="utf-8"))
    environment = SandboxedEnvironment(undefined=jinja2.StrictUndefined, autoescape=False, **questions.pop("_envops"))
    environment.filters["to_nice_yaml"] = _to_nice_yaml
    answers = {"name": name, **{part: part in parts for part in PARTS}}
    context = _completed(environment, questions, answers)
    context["_copier_answers"] = {"_commit": f"v{metadata.version('mfbench')}", "_src_path": REPOSITORY, **answers}
    context["_copier_conf"] = {"answers_file": _ANSWERS_FILE}
    files = {}
    for source in sorted(path for path in _TEMPLATE.rglob("*") if path.is_file()):
        words = [_render(environment, word, context) for word in _target(source)]
        if all(words):  # as in copier, a file or folder with an empty name is omitted
            text = source.read_text(encoding="utf-8")
            files["/".join(words)] = _render(environment, text, context) if source.suffix == _SUFFIX else text
    return dict(sorted(files.items()))


def package_of(name: str) -> str:
    """Return the import name of a plugin's package."""
    return f"mfbench_{name.replace('-', '_')}"


def write(files: Mapping[str, str], folder: Path) -> None:
    """Write the files of a package into a folder that does not exist, is empty, or is an empty Git repository."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file: choose another folder with --into")
    with explained(MfbenchError, lambda reason: f"{folder} cannot be written: {reason}", OSError):
        if folder.is_dir() and any(path.name != ".git" for path in folder.iterdir()):
            raise UsageError(f"{folder} is not empty: choose another folder with --into, or delete it")
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8", newline="\n")


def _completed(
    environment: SandboxedEnvironment, questions: Mapping[str, Mapping[str, Any]], answers: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the answers, completed by derived defaults, after validating them."""
    context = dict(answers)
    for key, question in questions.items():
        if key not in answers:
            context[key] = _render(environment, question["default"], context)
        refusal = _render(environment, question.get("validator", ""), context).strip()
        if refusal:
            raise UsageError(f"the name {answers[key]!r} is not valid: {refusal}" if key == "name" else refusal)
    return context


def _target(source: Path) -> list[str]:
    *folders, file = source.relative_to(_TEMPLATE).parts
    return [*folders, file.removesuffix(_SUFFIX)]


def _render(environment: SandboxedEnvironment, text: str, context: Mapping[str, Any]) -> str:
    return environment.from_string(text).render(context)


def _to_nice_yaml(value: object) -> str:
    """Format YAML like copier's filter of this name."""
    text: str = yaml.safe_dump(value, indent=4, allow_unicode=True, default_flow_style=False)
    return text
