"""Kubernetes machinery in Python: API types, a client, a controller runtime and an embedded API server."""
