"""Nearest neighbours: differences of values, the search, what learners take from hits and misses, and prediction."""
