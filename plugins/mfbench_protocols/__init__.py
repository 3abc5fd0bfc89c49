"""The protocols that come with mfbench."""
