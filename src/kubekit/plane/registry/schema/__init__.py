"""Validates, defaults and prunes documents by their schema. `conformance` is the entry point."""
