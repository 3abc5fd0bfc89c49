"""The store of a run: trial rows in SQLite, run metadata, and the files of the run folder."""
