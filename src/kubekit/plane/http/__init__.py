"""The HTTPS transport of a plane."""
