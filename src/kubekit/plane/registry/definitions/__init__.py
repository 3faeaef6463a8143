"""CustomResourceDefinitions: their validation, their status, and the kinds that they serve."""
