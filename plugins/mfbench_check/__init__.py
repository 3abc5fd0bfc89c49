"""Checks of plugins: run each check of a subject in a child process, and return its verdict."""
