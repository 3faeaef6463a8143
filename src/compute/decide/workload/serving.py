"""Whether a Workload is served as it is asked for: everywhere, by its newest template alone.

The status of a deployment does not say which template it speaks of: right after a new image was
asked for it still says that all is updated and ready. So it is only half of the proof. The other
half are the Instances, each of which carries the hash of the template it was made from.
"""

from collections.abc import Collection

from compute.api.compute import Instance, ScaleSettings, Workload, WorkloadDeployment
from compute.decide import joins
from compute.decide.deployment.slots import is_ready
from compute.decide.deployment.template import recorded_hash, template_hash


def reported(workload: Workload, deployments: Collection[WorkloadDeployment]) -> bool:
    """Whether the deployments say that they run what is asked for, and nothing else.

    They are all that the Workload has. One that is to go, that has another template, or that its
    cell knows nothing of yet, says no; and so does a Workload without any.
    """
    asked = joins.expected(workload)
    return bool(deployments) and all(
        _says_so(deployment, workload, asked.get(joins.place(deployment)))
        for deployment in deployments
    )


def proof(deployment: WorkloadDeployment) -> str:
    """What `proofs` says of each Instance that serves the deployment as it is asked for."""
    meta = deployment.metadata
    return f"{meta.namespace}/{meta.name}/{template_hash(deployment.spec.template)}"


def proofs(instance: Instance) -> tuple[str, ...]:
    """Which deployment, of which template, an Instance serves; nothing while it is not ready."""
    if not is_ready(instance):
        return ()
    name, template = joins.deployment_name(instance), recorded_hash(instance)
    return (f"{instance.metadata.namespace}/{name}/{template}",)


def _says_so(
    deployment: WorkloadDeployment, workload: Workload, scale: ScaleSettings | None
) -> bool:
    spec, status = deployment.spec, deployment.status
    if scale is None or deployment.deleting or status.observed_generation == 0:
        return False
    most = max(scale.min_replicas, scale.max_replicas or scale.min_replicas)
    counted = {status.replicas, status.updated_replicas, status.ready_replicas}
    return (
        spec.scale_settings == scale
        and spec.template == workload.spec.template
        and scale.min_replicas <= status.desired_replicas <= most
        and counted == {status.desired_replicas}
    )
