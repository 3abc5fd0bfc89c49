"""Suites: from a TOML file to a validated suite, and from a suite to a plan of trials."""
