"""Namespaces and propagation policies on the hub."""
