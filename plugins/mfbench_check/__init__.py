"""Checks of plugins: a method, dataset or suite → a verdict of each check, made in child processes."""
