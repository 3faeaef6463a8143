"""Decisions about networks: which are wanted, which are ready, and which addresses are allocated."""
