"""Analysis: pure functions from stored results to plain tables."""
