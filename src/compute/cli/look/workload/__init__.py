"""Commands on one workload, and the list of them: `compute workloads`."""
