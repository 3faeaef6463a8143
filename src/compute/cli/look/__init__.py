"""Commands that show workloads, instances and what happens to them."""
