"""The workload controller: from a Workload to its deployments, its status and its history."""
