"""The deployment controller: from a WorkloadDeployment to its Instances."""
