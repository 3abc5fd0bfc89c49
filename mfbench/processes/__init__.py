"""Child processes for third-party code: limited in time and memory, and killed with all their descendants."""
