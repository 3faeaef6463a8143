"""Whether a Workload is served as requested: everywhere, and by its newest template alone.

The status of a deployment does not show its template: right after a new image was requested it still
reports that all is updated and ready. So it is only half of the proof. The Instances are
the other half: each has the hash of the template it was created from.
"""

from collections.abc import Collection

from compute.api.compute import Instance, ScaleSettings, Workload, WorkloadDeployment
from compute.decide import joins
from compute.decide.deployment.slots import is_ready
from compute.decide.deployment.template import recorded_hash, template_hash
from compute.decide.overrides import CityTemplates


def reported(workload: Workload, deployments: Collection[WorkloadDeployment]) -> bool:
    """Whether the deployments report that they run what is requested, and nothing else.

    ``deployments`` are all of the Workload. The result is False if there are none, or if one of them
    is unwanted, has another template, or is not reported by its cell yet. A city that is pinned to
    another template does not serve the spec, however well it runs.
    """
    expected, templates = joins.expected(workload), CityTemplates(workload)
    return bool(deployments) and all(
        _reports_served(deployment, templates, expected.get(joins.placement_city(deployment)))
        for deployment in deployments
    )


def proof(deployment: WorkloadDeployment) -> str:
    """The key of `proofs` for each Instance that serves the deployment as requested."""
    meta = deployment.metadata
    return f"{meta.namespace}/{meta.name}/{template_hash(deployment.spec.template)}"


def proofs(instance: Instance) -> tuple[str, ...]:
    """Which deployment, of which template, an Instance serves; nothing while it is not ready."""
    if not is_ready(instance):
        return ()
    name, template = joins.deployment_name(instance), recorded_hash(instance)
    return (f"{instance.metadata.namespace}/{name}/{template}",)


def _reports_served(
    deployment: WorkloadDeployment, templates: CityTemplates, scale: ScaleSettings | None
) -> bool:
    spec, status = deployment.spec, deployment.status
    if templates.is_pinned(spec.city_code):
        return False
    if scale is None or deployment.deleting or status.observed_generation == 0:
        return False
    most = max(scale.min_replicas, scale.max_replicas or scale.min_replicas)
    counted = {status.replicas, status.updated_replicas, status.ready_replicas}
    return (
        spec.scale_settings == scale
        and spec.template == templates.of(spec.city_code)
        and scale.min_replicas <= status.desired_replicas <= most
        and counted == {status.desired_replicas}
    )
