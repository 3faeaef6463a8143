"""Our reconcilers, by the role that runs them. Each reads, calls `decide`, and writes what differs.

`management` is for projects and the hub, `cell` for cells. `compute.app.roles` starts them, and
`docs/controllers.md` lists what each of them watches and writes.

Start with `management.workload.controller`, then `management.federator.controller` and
`cell.deployment.controller`: they follow a Workload from its project to its Instances.
"""
