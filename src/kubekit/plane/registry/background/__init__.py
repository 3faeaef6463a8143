"""Work that a plane does on its own: garbage collection and the deletion of namespaces."""
