"""Shared helpers: safe display of text, sentence fragments, atomic file writes, JUnit XML."""
