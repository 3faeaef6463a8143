"""What Kubernetes asks of its own kinds beyond their schemas."""
