"""What a cell runs: from deployments to Instances, and their copies on the hub."""
