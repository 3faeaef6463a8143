"""Commands that change running workloads, and what they use."""
