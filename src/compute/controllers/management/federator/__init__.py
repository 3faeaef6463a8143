"""The federator: deployments of a project, sent to the hub, and their status brought back.

    controller        writes the copy on the hub, and the PropagationPolicy of its city
    status_reports    writes the status of the project's deployment, from the copy and its binding
    withdrawal        deletes the copy of a deleted deployment, and then removes the finalizer
    teardown_check    what is left in cells, which `withdrawal` waits for
    deployment_link   one deployment, its project and the hub

The content of copy and status is decided in `compute.decide.federation`.
"""
