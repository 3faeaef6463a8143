"""Authentication of requests: bearer tokens, client certificates, impersonation."""
