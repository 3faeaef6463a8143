"""What the API means: kinds, rules of metadata, verbs, garbage collection, namespaces."""
