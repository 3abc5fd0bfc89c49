"""What spreads a run over machines: jobs for batch systems, and the merging of runs."""
