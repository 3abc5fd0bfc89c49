"""Forecasting a run: from times of earlier trials to predicted seconds and memory, trial order, and budgets."""
