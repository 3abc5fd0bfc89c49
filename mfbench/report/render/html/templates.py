"""The templates of the page, the gallery and the notebook."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any


@cache
def asset(name: str) -> str:
    """Return the text of a file of this package."""
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def render(name: str, **values: Any) -> str:
    """Return a template with its values; texts are escaped."""
    import jinja2

    loader = jinja2.FunctionLoader(asset)
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, loader=loader, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template(name).render(**values)
