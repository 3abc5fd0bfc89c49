"""Running: from trials to results in the store."""
