"""Commands that create, compare and delete workloads."""
