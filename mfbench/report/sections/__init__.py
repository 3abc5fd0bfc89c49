"""The sections of a report: one module per subject, each with a function that takes a run and returns a `Section`."""
