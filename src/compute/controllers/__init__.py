"""Our reconcilers, by the role that runs them. Each reads, asks `decide`, and writes what differs."""
