"""Soft neighbours: every sample is a neighbour, with a probability that falls with its distance."""
