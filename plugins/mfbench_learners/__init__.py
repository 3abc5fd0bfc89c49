"""What the built-in estimators share: checked data, and functions compiled by numba."""
