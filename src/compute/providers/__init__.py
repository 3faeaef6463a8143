"""What runs an Instance."""
