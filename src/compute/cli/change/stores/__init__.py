"""`compute secrets` and `compute configmaps`: lists, and setting of single keys."""
