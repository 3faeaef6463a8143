"""The manager: the controllers of one plane, or of several, on Kubernetes clusters.

    options           what its flags and environment variables say
    operator_config   its configuration file, of the kind WorkloadOperator
    connections       from both, the connections to the planes
    startup_checks    what a plane must have before the controllers start
    managed_roles     management, cell, provider, stand-ins: each a manager with its own lease
    manager_process   checks, servers and roles, from the start to the last released lease

`compute up` composes the same controllers over embedded planes, in `compute.app.roles`.
"""
