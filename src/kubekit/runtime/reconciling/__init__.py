"""One reconcile pass: the client it writes with, and how it observes its own writes.

    passes             the pass: its writes are refused after its end
    recording_client   the client that a reconciler gets from `Cluster.client`
    commit             helpers for writes: finalizers, create or patch
    freshness          read-your-writes: when the next pass of a request may start
    write_conflicts    stops writes to an object that two writers change in turns

Live reads are in `kubekit.runtime.live`.
"""
