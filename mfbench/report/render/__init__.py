"""The output formats of a report: terminal, Markdown, JSON, CSV, and a picture of the terminal."""
