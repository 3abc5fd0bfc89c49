"""Checks of plugins: run each check on a method, dataset or suite in a child process, and return its verdict."""
