"""The types of the Kubernetes API, and the rules by which they are read, checked and selected."""
