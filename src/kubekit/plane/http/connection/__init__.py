"""One HTTP/1.1 connection: bytes to requests, responses to bytes."""
