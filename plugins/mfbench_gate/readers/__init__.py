"""Readers of stored results: each turns a run or a file of another program into a `StoredResult`."""
