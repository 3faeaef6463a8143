"""The spec of one Instance. Used by `Instance.spec` and by every template."""

from typing import Annotated

import msgspec

from kubekit.api.kinds.network_policies import NetworkPolicyIngressRule
from kubekit.api.kinds.pods import ResourceRequirements
from kubekit.api.kinds.value_sources import ConfigMapVolumeSource, EnvVar, SecretVolumeSource
from kubekit.api.meta import LocalRef, TemplateMeta
from kubekit.api.wire import (
    ATOMIC_MAP,
    Int32,
    RawQuantity,
    Rule,
    Wire,
    always,
    list_map,
)


class VolumeAttachment(Wire, frozen=True, kw_only=True):
    """A volume made available to a container or a virtual machine."""

    mount_path: str | None = None
    """Where it is mounted; a device only, when absent."""
    name: str
    """The volume's name."""


class NamedPort(Wire, frozen=True, kw_only=True):
    """A port that something listens on."""

    name: str
    """Names the port; unique, and a valid IANA service name."""
    port: Annotated[Int32, Rule(minimum=1, maximum=65535)]
    """The number of the port."""
    protocol: str = ""
    """TCP, UDP or SCTP; TCP is meant when absent."""


class Container(Wire, frozen=True, kw_only=True):
    """One container of a sandbox."""

    args: tuple[str, ...] = ()
    """Arguments; replaces the image's own."""
    command: tuple[str, ...] = ()
    """What to start; replaces the image's own entry point."""
    env: Annotated[tuple[EnvVar, ...], list_map("name")] = ()
    """Environment variables."""
    image: str
    """The image to run."""
    name: str
    """Names the container within the sandbox; a DNS label."""
    ports: Annotated[tuple[NamedPort, ...], list_map("name")] = ()
    """Ports the container listens on."""
    resources: ResourceRequirements | None = None
    """Reserved: the instance type decides the size."""
    volume_attachments: tuple[VolumeAttachment, ...] = ()
    """Volumes the container sees."""


class Sandbox(Wire, frozen=True, kw_only=True):
    """Containers that run together in one isolated environment."""

    containers: Annotated[tuple[Container, ...], list_map("name"), Rule(min_items=1)]
    """The containers, at least one."""
    image_pull_secrets: tuple[LocalRef, ...] = ()
    """Secrets that open private registries."""


class VirtualMachine(Wire, frozen=True, kw_only=True):
    """A machine that boots from its first volume."""

    ports: Annotated[tuple[NamedPort, ...], list_map("name")] = ()
    """Ports the machine listens on."""
    volume_attachments: Annotated[tuple[VolumeAttachment, ...], Rule(min_items=1)]
    """Volumes of the machine; it boots from the first."""


class InstanceResources(Wire, frozen=True, kw_only=True):
    """The size of an Instance."""

    instance_type: str
    """The size by name: datumcloud/d1-standard-2 has 1 vCPU and 2 GiB of memory."""
    requests: dict[str, RawQuantity] = {}
    """Reserved: the instance type decides the size."""


class Runtime(Wire, frozen=True, kw_only=True):
    """What runs: a sandbox of containers or a virtual machine, and how large."""

    resources: InstanceResources
    """The size of the Instance."""
    sandbox: Sandbox | None = None
    """Containers to run. Either this or a virtual machine."""
    virtual_machine: VirtualMachine | None = None
    """A machine to boot. Either this or a sandbox."""


class NetworkRef(Wire, frozen=True, kw_only=True):
    """A Network by name, in the referrer's namespace unless it names another."""

    name: str
    """The name of the Network."""
    namespace: str = ""
    """The namespace of the Network; the referrer's own when absent."""


class InterfaceNetworkPolicy(Wire, frozen=True, kw_only=True):
    """What traffic an interface lets in."""

    ingress: tuple[NetworkPolicyIngressRule, ...] = ()
    """Rules, each of which lets some traffic in."""


class NetworkInterface(Wire, frozen=True, kw_only=True):
    """An attachment to one network."""

    network: NetworkRef
    """The network to attach to."""
    network_policy: InterfaceNetworkPolicy | None = None
    """What traffic the interface lets in."""


class ImagePopulator(Wire, frozen=True, kw_only=True):
    """Fills a disk from a machine image."""

    name: str
    """The image, such as datumcloud/ubuntu-2204-lts."""


class FilesystemPopulator(Wire, frozen=True, kw_only=True):
    """Fills a disk with an empty file system."""

    type: Annotated[str, Rule(enum=("ext4",))]
    """The kind of file system."""


class DiskPopulator(Wire, frozen=True, kw_only=True):
    """What is on a disk at first. One of these is set."""

    filesystem: FilesystemPopulator | None = None
    """An empty file system."""
    image: ImagePopulator | None = None
    """A machine image."""


class DiskResources(Wire, frozen=True, kw_only=True):
    """The size of a disk."""

    requests: dict[str, RawQuantity] = {}
    """How much is asked for; `storage` is the size."""


class DiskSpec(Wire, frozen=True, kw_only=True):
    """A disk to be made."""

    populator: DiskPopulator | None = None
    """What is on it at first."""
    resources: DiskResources | None = None
    """How large it is."""
    type: Annotated[str, Rule(default="pd-standard")] = always("pd-standard")
    """The class of disk."""


class DiskTemplate(Wire, frozen=True, kw_only=True):
    """A disk made for each Instance."""

    metadata: TemplateMeta = msgspec.field(default_factory=TemplateMeta)
    """Labels and annotations of the disk."""
    spec: DiskSpec
    """The disk."""


class DiskVolume(Wire, frozen=True, kw_only=True):
    """A disk of the Instance's own."""

    device_name: str | None = None
    """The device's name within the machine; `persistent-disk-<index>` when absent."""
    template: DiskTemplate
    """The disk to make."""


class Volume(Wire, frozen=True, kw_only=True):
    """Something that can be attached. One source is set."""

    config_map: Annotated[ConfigMapVolumeSource | None, ATOMIC_MAP] = None
    """The keys of a ConfigMap, as files."""
    disk: DiskVolume | None = None
    """A disk of the Instance's own."""
    name: str
    """Names the volume within the Instance; a DNS label."""
    secret: SecretVolumeSource | None = None
    """The keys of a Secret, as files."""


class LocationRef(Wire, frozen=True, kw_only=True):
    """A Location by name. Locations have no namespace, yet the key must be there."""

    name: str
    """The name of the Location."""
    namespace: Annotated[str, Rule(required=True)] = msgspec.field(default_factory=str)
    """Always empty since Locations became cluster scoped."""


class SchedulingGate(Wire, frozen=True, kw_only=True):
    """Something the Instance waits for before it is started."""

    name: str
    """What it waits for: Network or Quota."""


class InstanceController(Wire, frozen=True, kw_only=True):
    """What the deployment controller records of the Instance that it created."""

    scheduling_gates: Annotated[tuple[SchedulingGate, ...], list_map("name")] = ()
    """Gates that are still closed. They are only ever removed."""
    template_hash: str
    """The hash of the template this Instance was created from."""


class InstanceSpec(Wire, frozen=True, kw_only=True):
    """An Instance: what runs, where it is attached, what it stores."""

    controller: InstanceController | None = None
    """Set by the deployment controller."""
    location: LocationRef | None = None
    """The Location that runs it; set by the deployment controller."""
    network_interfaces: Annotated[tuple[NetworkInterface, ...], Rule(min_items=1)]
    """Attachments to networks, at least one."""
    runtime: Runtime
    """What runs, and how large."""
    volumes: Annotated[tuple[Volume, ...], list_map("name")] = ()
    """What can be attached."""


class InstanceTemplate(Wire, frozen=True, kw_only=True):
    """The template of every Instance of a placement."""

    metadata: TemplateMeta = msgspec.field(default_factory=TemplateMeta)
    """Labels and annotations of the Instances."""
    spec: InstanceSpec
    """The Instances."""
