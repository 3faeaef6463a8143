"""The content of requests and responses: media types, bodies, query parameters."""
