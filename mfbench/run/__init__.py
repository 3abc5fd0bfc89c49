"""Running a plan: from trials to results in the store."""
