"""Scores against the number of features, from the trials of methods with a ``curve``."""
