"""The suites that come with mfbench."""
