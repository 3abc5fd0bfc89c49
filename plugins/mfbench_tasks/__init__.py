"""The tasks that come with mfbench: classification and regression."""
