"""What a run will cost: times of earlier trials → predicted seconds and memory, the order of trials, budgets."""
