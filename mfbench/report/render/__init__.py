"""The output formats of a report: terminal, Markdown, LaTeX, JSON, CSV and HTML."""
