"""Formats of a comparison: each module turns a `Comparison` into the text that one other program reads."""
