"""Running controllers over many clusters: watch, cache, queue, reconcile, write."""
