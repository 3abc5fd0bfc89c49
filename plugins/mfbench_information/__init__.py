"""Selectors that count: information between levels of the features and the target."""
