"""The page of a run under way: ``mfbench watch RUN``."""
