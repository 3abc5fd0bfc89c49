"""Datasets for mfbench: those that need no network, ground truth, and the collections of papers and of OpenML-CC18."""
