"""One HTTP/1.1 connection: parses requests and writes responses."""
