"""The instance controller: quota, and whether an Instance is Ready."""
