"""Informers: caches of the kinds of a cluster, kept in sync by watches.

    informers   the informers of one cluster: ``cluster.informers.of(Kind)``
    informer    list and watch of one kind, and the handlers of its changes
    cache       the objects of one kind: ``get``, ``list``, and ``by`` an index

The list and its watches are those of `kubekit.client.list_watch`.
"""
