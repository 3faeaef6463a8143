"""Informers: caches of the kinds of a cluster, kept in sync by watches."""
