"""The metrics that come with mfbench: scores of predicted classes and probabilities."""
