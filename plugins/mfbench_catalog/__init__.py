"""What is installed and which data are here: ``mfbench plugins``, ``suites`` and ``datasets``."""
