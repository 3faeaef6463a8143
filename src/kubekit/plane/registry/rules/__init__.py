"""The rules and defaults of Kubernetes' own kinds that a schema cannot express."""
