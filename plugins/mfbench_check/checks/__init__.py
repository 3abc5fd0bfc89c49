"""The checks, one module for each group or part of one."""
