"""A cell that runs Instances as Pods, and its objects."""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from compute.api import labels
from compute.api.compute import Instance
from compute.api.instance_spec import (
    Container,
    InterfaceNetworkPolicy,
    NamedPort,
    Sandbox,
    Volume,
    VolumeAttachment,
)
from compute.providers import pods
from kubekit.api.kinds.core import ConfigMap, Namespace, Secret
from kubekit.api.kinds.pods import Pod, PodContainer, PodSpec, Service
from kubekit.api.kinds.value_sources import ConfigMapVolumeSource
from kubekit.api.meta import ObjectMeta, with_spec
from kubekit.runtime.clusters import Clusters
from tests.support.compute import provider_builders
from tests.support.compute.kubelet import Kubelet
from tests.support.compute.provider_builders import NS, name
from tests.support.kubekit.stage import Stage

WEB_PORT = NamedPort(name="http", port=8080)


async def pod_cell(stage: Stage, provider: Clusters | None = None, **kubelet: Any) -> Kubelet:
    """A cell with nodes whose provider runs, in a role of its own if there is one."""
    await stage.client("dfw").create(Namespace(metadata=ObjectMeta(name=NS)))
    nodes = Kubelet(stage, **kubelet)
    await nodes.run()
    stage.start(*pods.controllers(provider or stage.role("cell"), stage.factory))
    return nodes


def pod_instance(
    ordinal: int = 0, image: str = "web:1", gates: Sequence[str] = (), **container: Any
) -> Instance:
    """An Instance with one container."""
    made = provider_builders.machine(ordinal, image, gates)
    return with_container(made, **container)


def with_policy(instance: Instance) -> Instance:
    """The Instance that lets nothing in."""
    (interface,) = instance.spec.network_interfaces
    closed = replace(interface, network_policy=InterfaceNetworkPolicy())
    return with_spec(instance, network_interfaces=(closed,))


def with_files(instance: Instance, config_map: str) -> Instance:
    """The Instance whose first container mounts a ConfigMap."""
    mounts = (VolumeAttachment(name="conf", mount_path="/etc/web"),)
    volume = Volume(name="conf", config_map=ConfigMapVolumeSource(name=config_map))
    return with_spec(with_container(instance, volume_attachments=mounts), volumes=(volume,))


def with_container(instance: Instance, **changes: Any) -> Instance:
    """The Instance whose first container has these fields."""
    sandbox = instance.spec.runtime.sandbox
    assert sandbox is not None
    first = replace(sandbox.containers[0], **changes)
    return with_containers(instance, first, *sandbox.containers[1:])


def with_containers(instance: Instance, *containers: Container, **sandbox: Any) -> Instance:
    """The Instance with these containers."""
    present = instance.spec.runtime.sandbox or Sandbox(containers=containers)
    changed = replace(present, containers=containers, **sandbox)
    return with_spec(instance, runtime=replace(instance.spec.runtime, sandbox=changed))


async def pod_of(
    stage: Stage, ordinal: int = 0, true: Callable[[Pod], object] = lambda _: True
) -> Pod:
    """The Pod of an Instance, once ``true`` of it holds."""
    return await stage.named("dfw", Pod, name(ordinal), NS, true)


async def service_of(stage: Stage, ordinal: int = 0) -> Service:
    return await stage.named("dfw", Service, name(ordinal), NS)


async def store(
    stage: Stage, kind: type[ConfigMap] | type[Secret], title: str, **data: str
) -> None:
    """A ConfigMap or Secret in the namespace of the Instances."""
    await stage.client("dfw").create(kind(metadata=ObjectMeta(name=title, namespace=NS), data=data))


def foreign_pod(ordinal: int = 0, **meta: Any) -> Pod:
    """A Pod of others under the name of an Instance."""
    return Pod(
        metadata=ObjectMeta(name=name(ordinal), namespace=NS, **meta),
        spec=PodSpec(containers=(PodContainer(name="other", image="other:1"),)),
    )


def uid_label(instance: Instance) -> dict[str, str]:
    return {labels.INSTANCE_UID: instance.metadata.uid}
