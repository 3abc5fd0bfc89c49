"""Settings of Sphinx for the site of mfbench; ``build.py`` runs it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util.logging import getLogger

import mfbench

# The examples run the command of the environment that builds the site, wherever the shell looks for it.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])

logger = getLogger(__name__)
LONG_FORMULA = 30  # characters of LaTeX; a longer one may have to scroll on a narrow screen, also by the keyboard

project = "mfbench"
author = "The mfbench developers"
project_copyright = author
version = release = mfbench.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
]
root_doc = "README"
exclude_patterns = ["docs/examples/*"]  # Sphinx-Gallery makes docs/gallery of them
default_role = "code"
smartquotes = False
highlight_language = "text"

# Anchors are those of a code host: every heading has one.
myst_heading_anchors = 6
numpydoc_show_class_members = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"

sphinx_gallery_conf = {
    "examples_dirs": "docs/examples",
    "gallery_dirs": "docs/gallery",
    "within_subsection_order": "gallery.Order",
    "image_scrapers": ("gallery.charts",),
    "reset_modules": (),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,  # a page that asks other hosts for scripts
}

html_theme = "pydata_sphinx_theme"
html_title = "mfbench"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_sidebars: dict[str, list[str]] = {
    "README": [],
    "docs/guide": [],
    "docs/plugins": [],
    "docs/python": [],
    "docs/statistics": [],
}
html_theme_options = {
    "icon_links": [{"name": "Code", "url": "https://github.com/mfbench/mfbench", "icon": "fa-brands fa-github"}],
    "navbar_persistent": ["search-button"],  # the wide one is called otherwise than its text
    "show_prev_next": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 9,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def setup(app: Sphinx) -> None:
    """Draw formulas without a script, and leave out what estimators inherit from scikit-learn."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    app.connect("autodoc-skip-member", _skip)


html_math_renderer = "mathml"


def _inline(writer: Any, node: nodes.math) -> None:
    focus = ' tabindex="0"' if len(node.astext()) > LONG_FORMULA else ""
    writer.body.append(f'<span class="formula"{focus}>{_mathml(node)}</span>')
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math" tabindex="0">{_mathml(node, as_block=True)}</div>')
    raise nodes.SkipNode


def _mathml(node: nodes.Element, *, as_block: bool = False) -> str:
    """Return a formula as MathML; one that docutils cannot read is a warning, and thereby an error."""
    try:
        return str(tex2mathml(node.astext(), as_block=as_block))
    except MathError as error:
        logger.warning("cannot show the formula %r: %s", node.astext(), error, location=node)
        return ""


def _skip(app: Sphinx, what: str, name: str, value: object, skip: bool, options: object) -> bool | None:
    home = getattr(value, "__module__", None) or getattr(getattr(value, "fget", None), "__module__", "")
    return True if str(home).partition(".")[0] == "sklearn" else None
