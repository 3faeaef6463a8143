"""The plane's door for other processes: HTTPS."""
