"""The pool of remote workers: trials in batches to the workers of an engine, with recovery."""
