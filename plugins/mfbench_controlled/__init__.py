"""Selectors that promise an error rate: knockoffs, stability selection, corrected tests, held-out importance."""
