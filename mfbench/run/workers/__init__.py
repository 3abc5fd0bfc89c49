"""Worker processes: jobs and trials → results, with limits of time and memory."""
