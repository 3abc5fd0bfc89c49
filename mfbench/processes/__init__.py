"""Child processes that run other people's code: killable with all that they start, and limited in time and memory."""
