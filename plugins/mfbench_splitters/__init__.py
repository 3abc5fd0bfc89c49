"""The splitters that come with mfbench."""
