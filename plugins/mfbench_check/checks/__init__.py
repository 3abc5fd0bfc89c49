"""The checks, one module per group or part of a group."""
