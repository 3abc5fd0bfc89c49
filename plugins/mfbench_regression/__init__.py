"""Regressors, and selectors of features for a target that is a number."""
