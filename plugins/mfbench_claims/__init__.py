"""Bundles: a run as one file that anyone can verify."""
