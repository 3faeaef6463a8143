"""Where clusters come from."""
