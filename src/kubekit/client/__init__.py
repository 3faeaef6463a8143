"""Speaking to a plane: what every door offers, and the typed client above it."""
