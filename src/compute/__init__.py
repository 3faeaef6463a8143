"""Datum compute: a federated control plane that runs containers in the cities you name."""
