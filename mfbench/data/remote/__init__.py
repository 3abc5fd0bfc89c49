"""Datasets from the network: one download, the clients of the repositories, and what they share."""
