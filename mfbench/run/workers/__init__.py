"""Worker processes: from jobs and trials to results, with time and memory limits."""
