"""The Pod, the Service and the NetworkPolicy of an Instance, built once, from its spec.

A new template makes a new Instance, and so a new Pod. The owner reference lets the garbage collector
delete what is left of an Instance whose finalizer was removed by hand; while the finalizer is there,
so is the owner. It does not block the deletion of the owner: the finalizer does.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from compute.api import annotations, labels, names
from compute.api.compute import Instance
from compute.api.instance_spec import Container, Sandbox, Volume
from compute.decide.deployment.template import recorded_hash
from compute.decide.pods import pod_security
from compute.decide.pods.pod_containers import containers
from compute.decide.pods.pod_refusals import PodRefusal, checked
from compute.decide.pods.pod_settings import PodSettings
from kubekit.api.kinds.network_policies import NetworkPolicy, NetworkPolicySpec
from kubekit.api.kinds.pods import Pod, PodSpec, PodVolume, Service, ServicePort, ServiceSpec
from kubekit.api.meta import LabelSelector, ObjectMeta


@dataclass(frozen=True, slots=True)
class PodPlan:
    """What is created for an Instance: without ports no Service, without rules no NetworkPolicy."""

    pod: Pod
    service: Service | None
    policy: NetworkPolicy | None


def plan(instance: Instance, settings: PodSettings) -> PodPlan | PodRefusal:
    """What is created for an Instance, or why it cannot be a Pod."""
    sandbox = checked(instance)
    if isinstance(sandbox, PodRefusal):
        return sandbox
    pod = _pod(instance, sandbox, settings)
    return PodPlan(pod, _service(instance, sandbox), _policy(instance))


def _policy(instance: Instance) -> NetworkPolicy | None:
    """The rules of the Instance's interface. Of a policy without a rule, nothing passes."""
    interfaces = instance.spec.network_interfaces
    allowed = next((one.network_policy for one in interfaces if one.network_policy), None)
    if allowed is None:
        return None
    return NetworkPolicy(
        metadata=_metadata(instance, instance.metadata.name, {}),
        spec=NetworkPolicySpec(
            pod_selector=LabelSelector(match_labels=_selector(instance)),
            policy_types=("Ingress",),
            ingress=tuple(
                replace(
                    rule, ports=tuple(replace(p, protocol=p.protocol or "TCP") for p in rule.ports)
                )
                for rule in allowed.ingress
            ),
        ),
    )


def _service(instance: Instance, sandbox: Sandbox) -> Service | None:
    ports = tuple(_service_ports(sandbox.containers))
    if not ports:
        return None
    return Service(
        metadata=_metadata(instance, names.service(instance.metadata.name), {}),
        spec=ServiceSpec(type="ClusterIP", ports=ports, selector=_selector(instance)),
    )


def _pod(instance: Instance, sandbox: Sandbox, settings: PodSettings) -> Pod:
    built_from = {annotations.TEMPLATE_HASH: recorded_hash(instance)}
    return Pod(
        metadata=_metadata(instance, instance.metadata.name, built_from),
        spec=PodSpec(
            containers=containers(instance, sandbox.containers, settings),
            volumes=tuple(_volume(volume) for volume in instance.spec.volumes),
            restart_policy="Always",
            automount_service_account_token=False,
            # Addresses of other Services of the namespace are no part of the template.
            enable_service_links=False,
            image_pull_secrets=sandbox.image_pull_secrets,
            security_context=pod_security.of_pod(sandbox.containers, settings),
        ),
    )


def _metadata(instance: Instance, name: str, known: dict[str, str]) -> ObjectMeta:
    present = instance.metadata.labels
    identity: dict[str, str] = {key: present[key] for key in labels.IDENTITY if key in present}
    return ObjectMeta(
        name=name,
        namespace=instance.metadata.namespace,
        labels={**identity, **_selector(instance)},
        annotations=known,
        owner_references=(instance.reference(controller=True),),
    )


def _selector(instance: Instance) -> dict[str, str]:
    """The label that only the objects of this Instance have."""
    return {labels.INSTANCE_UID: instance.metadata.uid}


def _volume(volume: Volume) -> PodVolume:
    return PodVolume(name=volume.name, config_map=volume.config_map, secret=volume.secret)


def _service_ports(containers: tuple[Container, ...]) -> Iterator[ServicePort]:
    """The ports of all containers. They share one address, so each number is there once."""
    taken: set[tuple[int, str]] = set()
    used: set[str] = set()
    for port in (port for container in containers for port in container.ports):
        protocol = port.protocol or "TCP"
        if (port.port, protocol) in taken:
            continue
        taken.add((port.port, protocol))
        is_used = port.name in used
        name = f"{port.name}-{port.port}-{protocol.lower()}" if is_used else port.name
        used.add(name)
        yield ServicePort(name=name, port=port.port, target_port=port.port, protocol=protocol)
