"""The report as one HTML page that refers to nothing outside itself."""
