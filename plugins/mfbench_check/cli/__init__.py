"""The commands of this package: words → one call each."""
