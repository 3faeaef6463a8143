"""The door through a socket: HTTP/1.1 to any Kubernetes API server."""
