"""Audits: does a selector keep the error rate that it promises? And the verdicts that a table of scores allows."""
