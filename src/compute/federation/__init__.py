"""The federation engine of a hub: the part of Karmada that this product uses, with the same objects.

    binder       policy and object -> ResourceBinding
    bindings     ResourceBinding -> one Work for each chosen cell; deletes Works; writes the status
                 of the Works into the binding and the hub's object
    execution    Work -> the copy in the cell; writes the status of the copy into the Work
    members, heartbeat, namespaces
                 the cells of the hub: whether they are reachable, and their namespaces

`engine` starts these controllers, and draws the flow. The cell is chosen by
`compute.decide.federation.scheduling`. `interpreter` and `reports` compute statuses, `works` and
`copies` the manifests; `claims` selects the policy of an object, and has nothing to do with quota.
"""
