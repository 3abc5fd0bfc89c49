"""The template of a plugin package: questions, files, and their rendering.

A ``copier.yml`` in the repository's root makes the same files a copier template.
"""
