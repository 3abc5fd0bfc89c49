"""Reports: sections built from the analysis, and the forms in which people read them."""
