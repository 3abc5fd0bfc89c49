"""The plugin host: hook specifications, the registry of named specs, and the expressions that refer to them."""
