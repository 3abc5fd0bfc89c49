"""One table, one question: which features, how many, and what score to expect."""
