"""The decisions of the system: objects and ``now`` in; a plan, a verdict or a status out.

`docs/decide.md` lists the question that each module answers.

Nothing here does I/O. So every decision can be tested by comparing values, checked over random
worlds, and shared by controllers, the admission webhook, the command line and the console.

Start with `workload.placement` (a Workload becomes deployments), then `deployment.rollout` (a
deployment becomes Instances), `readiness` and `workload.workload_status` (their health, summarized).
"""
