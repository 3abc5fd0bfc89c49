"""The forms in which results are stored: compressed bytes, nothing pickled."""
