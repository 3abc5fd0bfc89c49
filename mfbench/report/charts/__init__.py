"""Charts: as text, and as self-contained SVG documents."""
