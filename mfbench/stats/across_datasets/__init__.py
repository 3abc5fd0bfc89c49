"""Comparing methods across datasets: one value per dataset and method, ranked, tested and profiled."""
