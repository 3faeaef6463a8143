"""Decisions about a WorkloadDeployment: its rollout, its Instances and its status."""
