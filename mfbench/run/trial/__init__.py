"""One trial: one method on one fold of one dataset, from the fold's data to the result."""
