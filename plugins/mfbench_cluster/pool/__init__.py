"""The pool of remote workers: sends batches of trials to an engine's workers, and recovers from losses."""
