"""Batch systems: from a plan to the scripts and files of an array of jobs."""
