"""Real and by-definition UCI datasets for mfbench that need no network and no prepared files."""
