"""Datasets from the network: downloads, the clients of the repositories, and their common parts."""
