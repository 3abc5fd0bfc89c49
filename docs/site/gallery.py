"""The examples of the site, for Sphinx-Gallery: their order, and pictures from charts."""

from __future__ import annotations

from typing import Any

from sphinx_gallery.scrapers import figure_rst
from sphinx_gallery.sorting import FileNameSortKey

ORDER = ("own_data", "own_method", "curves", "detection", "regression", "gate", "bundle", "audit")


class Order(FileNameSortKey):
    """The order of the examples on their page."""

    def __call__(self, filename: str) -> int:
        """Return the place of an example."""
        return ORDER.index(filename.removeprefix("plot_").removesuffix(".py"))


def charts(block: tuple[Any, ...], block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the chart that a block assigns to ``chart``, and return its figure."""
    chart = block_vars["example_globals"].pop("chart", None)
    if chart is None:
        return ""
    path = next(block_vars["image_path_iterator"]).removesuffix(".png") + ".svg"
    chart.save(path)
    description = chart.to_dict().get("description") or "Chart of the run"
    return str(figure_rst([path], gallery_conf["src_dir"], description))
