"""A plugin that cannot be imported."""

raise ImportError("no module named torch")
