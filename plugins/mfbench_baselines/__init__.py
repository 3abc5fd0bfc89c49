"""Baselines: simple filters, and the classifiers that everybody compares with."""
