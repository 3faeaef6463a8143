"""An Instance as a Pod: what is created for it, and what its Pod says of it.

    pod_settings      what operators choose for all Pods of a cell
    pod_refusals      why an Instance cannot be a Pod
    pod_plan          the Pod and the Service of an Instance
    pod_containers    the containers of the Pod: variables, mounts, ports, sizes
    pod_security      what the processes of the Pod may do
    pod_ownership     whose an existing Pod or Service is
    pod_state         from a Pod and its node to the conditions of the Instance
    container_faults  containers that cannot start, or end again and again
    mount_failures    files that cannot be mounted, which only events report
    node_state        whether a node can say what runs on it
    instance_fields   variables whose value is a field of the Instance
    pod_obstacles     the state of an Instance whose Pod cannot be created
    pod_replacement   when a Pod that has ended is replaced

Start reading at `pod_plan.plan` and `pod_state.state_of`.
"""
