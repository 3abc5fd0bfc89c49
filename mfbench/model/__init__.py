"""The nouns: specs, datasets, trials with their results, and sections of a report; no numeric library is loaded."""
