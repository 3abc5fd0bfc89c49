"""Charts: pictures as text and as SVG documents that refer to nothing outside themselves."""
