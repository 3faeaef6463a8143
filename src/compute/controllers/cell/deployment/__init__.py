"""The deployment controller: from a WorkloadDeployment to its Instances.

    controller        one reconcile pass: plan, live read of the deployment, execute, status
    deployment_plan   what is due, from the caches: new Instances with their gates
                      (`instance_factory`), and changes, such as an opened gate Network (`updated`)
    executor          writes the plan: creates, updates, deletes
    network_gate      the networks that the gate Network waits for: bindings, claims, subnets
    members           which Instances belong to a deployment

What comes next in a rollout is decided in `compute.decide.deployment.rollout`.
"""
