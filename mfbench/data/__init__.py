"""Datasets: from a name or a file to a `Dataset`, and from a `Dataset` to the numbers that a fold shows."""
