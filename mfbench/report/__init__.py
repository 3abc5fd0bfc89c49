"""Reports: from tables to what people read."""
