"""A suite in a few lines of text."""

from toy_suites import planned, suite_file

__all__ = ["planned", "suite_file"]
