"""The search for the nearest training rows: similarities, hits and misses, and the votes of neighbours."""
