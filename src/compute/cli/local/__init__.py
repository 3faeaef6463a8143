"""Commands of the platform on this machine."""
