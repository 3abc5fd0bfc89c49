"""What the built-in estimators share: bases and checks, functions compiled by numba, and lazily imported names."""
