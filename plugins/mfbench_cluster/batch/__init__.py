"""Batch systems: turn a plan into the scripts and files of a job array."""
