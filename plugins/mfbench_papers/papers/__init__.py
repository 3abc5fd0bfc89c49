"""The papers built in, a TOML file each."""
