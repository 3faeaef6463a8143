"""The certificate authority of a server, and the certificates that it issues."""
