"""What an expression may cost, as Kubernetes counts it."""
