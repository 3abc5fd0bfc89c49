"""The template of a plugin package: questions, files, and their rendering.

The root of the repository has a ``copier.yml`` that makes the same files a copier template.
"""
