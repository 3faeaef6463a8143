"""The documents that describe a plane to clients: discovery and OpenAPI."""
