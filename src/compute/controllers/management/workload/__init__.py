"""The workload controller: from a Workload to its deployments, its status and its history.

    controller   one reconcile pass: split, live read of the Workload, writes, status
    watches      which changes requeue which Workloads
    reads        the deployments and Instances of a Workload
    networks     the networks that its template names
    histories    its revisions

The split and the names of deployments are decided in `compute.decide.workload.placement`, the
status and its conditions in `compute.decide.workload.workload_status`.
"""
