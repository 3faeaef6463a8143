"""Providers of clusters for a role."""
