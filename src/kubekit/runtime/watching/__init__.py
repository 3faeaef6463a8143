"""Informers: collections of a cluster, kept in memory and up to date."""
