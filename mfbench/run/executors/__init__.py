"""Executors: they run the trials of a job somewhere and yield the results as they come."""
