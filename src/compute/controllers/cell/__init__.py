"""The controllers of a cell: from deployments to Instances, and their copies on the hub."""
