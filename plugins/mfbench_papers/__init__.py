"""Papers: every printed figure beside ours, with a verdict, what deviates from the paper, and what cannot be run."""
