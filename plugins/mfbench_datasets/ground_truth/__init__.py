"""Datasets whose relevant features and interactions are known by construction: rules, simulations and designs."""
