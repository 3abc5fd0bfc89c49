"""The sections of a report: one module per subject, each with a function that returns a `Section`."""
