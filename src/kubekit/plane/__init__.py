"""The embedded plane: a Kubernetes API for one machine, durable on SQLite."""
