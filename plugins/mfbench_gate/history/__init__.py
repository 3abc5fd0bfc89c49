"""The history of a project's measurements: one SQLite file, its series, and the commits between which they changed."""
