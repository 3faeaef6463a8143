"""Background work of a plane: garbage collection and the deletion of namespaces.

Both run on a `keyed_worker`, which is the work queue. Start reading there.
"""
