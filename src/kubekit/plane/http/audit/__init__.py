"""The audit log: one line for each request that is recorded."""
