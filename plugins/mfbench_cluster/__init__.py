"""Distributed runs: a pool of remote workers, job arrays for batch systems, and merging of runs."""
