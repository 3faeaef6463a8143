"""Background work of a plane: garbage collection and the deletion of namespaces."""
