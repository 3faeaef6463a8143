"""The functions that expressions can call, a module for each library of Kubernetes."""
