"""The pool of remote workers: trials in batches to the places of an engine, with recovery."""
