"""The gate: two versions measured in one job, in turns, and judged."""
