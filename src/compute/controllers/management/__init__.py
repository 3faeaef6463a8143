"""What the management plane runs: from Workloads to the hub, and back."""
