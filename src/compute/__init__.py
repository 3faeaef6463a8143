"""Datum compute: a federated control plane that runs containers in the cities you name.

    api           the kinds, their conditions, reasons, gates, labels and names
    decide        every decision, as pure functions of objects and the time
    controllers   what reads, calls `decide` and writes: in projects and on the hub, and in cells
    federation    the engine: sends objects from the hub to cells, and brings their status back
    providers     what runs Instances
    services      stand-ins for projects, quota, networks, locations and entitlements
    app           the composition: which controllers run in which part, and the planes of a world
    cli           the command ``compute``

`docs/architecture.md` follows one Workload through all of them, file by file.
"""
