"""Decisions about a Workload: its deployments, its status and its history."""
