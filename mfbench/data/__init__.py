"""Datasets: resolve a name or a file to a `Dataset`, then encode it into the arrays that each fold uses."""
