"""Decisions about a WorkloadDeployment: its rollout, its Instances and its status.

    rollout            the next step: which Instances to create and delete; gates of new ones
    slots              the numbered slots, and the Instance in each
    template           builds an Instance from the template, and hashes the template
    replacements       single Instances that a user asked to replace
    rollup             the status of the deployment, from its Instances
    drains, handover   how long a deployment that is no longer wanted keeps running
    instance_edits     changes that were made by hand, and are undone

Start reading at `rollout.plan` and `rollup.deployment_status`.
"""
