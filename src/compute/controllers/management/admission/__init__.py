"""Admission of Workloads: defaults, validation and permissions."""
