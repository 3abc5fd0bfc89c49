"""The few SVG elements that charts consist of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

_FONT = 'font-family="ui-sans-serif, Helvetica, Arial, sans-serif" font-size="13"'
LETTER = 7.6
"""Upper bound on the width of a letter, since no renderer is available to measure it."""


def document(width: float, height: float, title: str, body: Sequence[str]) -> str:
    """Return an SVG document that refers to nothing outside itself."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
            f'height="{height:.0f}" {_FONT} role="img">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>',
            *body,
            "</svg>",
            "",
        ]
    )


def text(x: float, y: float, text: str, anchor: str = "start", **more: str) -> str:
    """Return a text element; keywords are further attributes, with underscores for hyphens."""
    extra = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in more.items())
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{escape(text)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, width: float = 1.0, colour: str = "black") -> str:
    """Return a straight line."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width:g}"/>'


def numbered_name(kind: str, number: int, dataset: str) -> str:
    """Return the name of a dataset's chart, fit for a file.

    Examples
    --------
    >>> numbered_name("rounds", 1, "xor(n_noise=6)")
    'rounds-01-xor-n-noise-6'
    """
    return f"{kind}-{number:02d}-{re.sub(r'[^a-z0-9]+', '-', dataset.lower()).strip('-')[:80]}"
