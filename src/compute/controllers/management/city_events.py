"""Events of a city, written on its deployment and on the Workload."""

from compute.api.compute import Workload, WorkloadDeployment
from compute.decide.deployment.drains import PlannedEvent
from compute.decide.workload import workload_events
from kubekit.api.meta import Object, ObjectMeta
from kubekit.client.client import Client
from kubekit.runtime.reporting.events import EventRecorder


def report(
    recorder: EventRecorder,
    client: Client,
    deployment: WorkloadDeployment,
    event: PlannedEvent,
    action: str,
) -> None:
    """Write the event on the deployment and on its Workload."""
    workload_event = workload_events.city_of_workload(deployment, event)
    for regarding, each in ((deployment, event), (_workload(deployment), workload_event)):
        recorder.event(client, regarding, each.type, each.reason, each.note, action)


def _workload(deployment: WorkloadDeployment) -> Object:
    """The Workload of a deployment, with the fields that an event needs."""
    ref, namespace = deployment.spec.workload_ref, deployment.metadata.namespace
    return Object(
        api_version=Workload.RESOURCE.api_version,
        kind=Workload.RESOURCE.kind,
        metadata=ObjectMeta(name=ref.name, namespace=namespace, uid=ref.uid),
    )
