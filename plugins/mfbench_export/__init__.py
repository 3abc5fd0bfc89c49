"""Runs in the forms of other tools: ``mfbench export``."""
