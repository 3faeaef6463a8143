"""Decisions about networks: which are wanted, which are ready, who has which address."""
