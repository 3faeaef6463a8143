"""The cost of an expression as Kubernetes counts it: estimated, and at run time."""
