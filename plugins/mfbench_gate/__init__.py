"""Comparison of two versions, measured in one job or read from stored results, and judged cell by cell."""
