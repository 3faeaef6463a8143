"""The controllers of the management plane: from Workloads to the hub, and back."""
