"""IMMIGRATE's distance |x - x'|^T W |x - x'|: the objective over pairs, its solvers, and prediction."""
