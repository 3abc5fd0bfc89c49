"""The store of a run: rows of trials in SQLite, what is recorded about the run, and the state of the folder."""
