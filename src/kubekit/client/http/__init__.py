"""The transport over a socket: HTTP/1.1 to any Kubernetes API server."""
