"""The commands of `compute cities`."""
