"""Comparing methods on one dataset: tests of paired scores and of decisions, and the rules that apply them."""
