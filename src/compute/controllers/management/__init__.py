"""The controllers of the management plane: from Workloads to the hub, and back.

    admission    defaults and validates Workloads
    workload     from a Workload to its WorkloadDeployments, and their status in the Workload's
    federator    copies deployments to the hub, and their status to the project; deletes the copies
    hub          the hub's namespaces and PropagationPolicies
    projector    shows the hub's copies of Instances in the project

The other modules serve several of them: writes that a decision asks for, events of a city, metrics,
the cities that a project is offered, the planes.
"""
