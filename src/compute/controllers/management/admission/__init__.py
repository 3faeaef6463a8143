"""Admission of Workloads: defaults, validation and permissions.

`workload_admission` has the rules that need a project; all others are in
`compute.decide.validation`. In a world `compute.app.admission` calls it as a plugin of the plane of
the project; `webhooks` serves the same to any other API server.
"""
