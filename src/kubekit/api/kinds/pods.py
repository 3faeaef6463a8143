"""v1: Pod and Service, as far as a provider that runs Instances as Pods needs them."""

from datetime import datetime
from typing import ClassVar, Literal

import msgspec

from kubekit.api.kinds.core import CoreCondition
from kubekit.api.kinds.value_sources import ConfigMapVolumeSource, EnvVar, SecretVolumeSource
from kubekit.api.meta import Condition, LocalRef, Object
from kubekit.api.resource import AGE, Column, Resource
from kubekit.api.wire import IntOrString, RawQuantity, Wire, always


class ResourceRequirements(Wire, frozen=True, kw_only=True):
    """How much of each resource a container may use and asks for."""

    limits: dict[str, RawQuantity] = {}
    """The most it may use."""
    requests: dict[str, RawQuantity] = {}
    """The least it needs."""


class ContainerPort(Wire, frozen=True, kw_only=True):
    """A port that a container listens on."""

    name: str = ""
    host_port: int = 0
    container_port: int
    protocol: str = ""
    host_ip: str = msgspec.field(default="", name="hostIP")


class VolumeMount(Wire, frozen=True, kw_only=True):
    """Where a container sees a volume."""

    name: str
    read_only: bool = False
    mount_path: str
    sub_path: str = ""


class SeccompProfile(Wire, frozen=True, kw_only=True):
    """Which system calls are allowed; ``RuntimeDefault`` are those of the container runtime."""

    type: str
    localhost_profile: str = ""


class Capabilities(Wire, frozen=True, kw_only=True):
    """Capabilities of Linux that a container has more, or fewer, than usual."""

    add: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()


class SecurityContext(Wire, frozen=True, kw_only=True):
    """What the processes of a container may do."""

    allow_privilege_escalation: bool | None = None
    capabilities: Capabilities | None = None
    run_as_non_root: bool | None = None


class Sysctl(Wire, frozen=True, kw_only=True):
    """A setting of the kernel, for one Pod."""

    name: str
    value: str


class PodSecurityContext(Wire, frozen=True, kw_only=True):
    """What the processes of a Pod may do."""

    run_as_non_root: bool | None = None
    seccomp_profile: SeccompProfile | None = None
    sysctls: tuple[Sysctl, ...] = ()


class PodContainer(Wire, frozen=True, kw_only=True):
    """One container of a Pod."""

    name: str
    image: str = ""
    image_pull_policy: str = ""
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    working_dir: str = ""
    ports: tuple[ContainerPort, ...] = ()
    env: tuple[EnvVar, ...] = ()
    resources: ResourceRequirements | None = None
    volume_mounts: tuple[VolumeMount, ...] = ()
    security_context: SecurityContext | None = None


class EmptyDirVolumeSource(Wire, frozen=True, kw_only=True):
    """Space that lives as long as the Pod; ``medium`` Memory makes it a RAM disk."""

    medium: str = ""
    size_limit: RawQuantity | None = None


class PodVolume(Wire, frozen=True, kw_only=True):
    """Something that containers can mount. One source is set."""

    name: str
    config_map: ConfigMapVolumeSource | None = None
    secret: SecretVolumeSource | None = None
    empty_dir: EmptyDirVolumeSource | None = None


class PodSpec(Wire, frozen=True, kw_only=True):
    """What a Pod runs, and how."""

    containers: tuple[PodContainer, ...]
    volumes: tuple[PodVolume, ...] = ()
    restart_policy: str = ""
    termination_grace_period_seconds: int | None = None
    runtime_class_name: str | None = None
    service_account_name: str = ""
    automount_service_account_token: bool | None = None
    enable_service_links: bool | None = None
    image_pull_secrets: tuple[LocalRef, ...] = ()
    node_selector: dict[str, str] = {}
    node_name: str = ""
    hostname: str = ""
    security_context: PodSecurityContext | None = None


class StateWaiting(Wire, frozen=True, kw_only=True):
    """A container that has not started yet, and why not."""

    reason: str = ""
    message: str = ""


class StateRunning(Wire, frozen=True, kw_only=True):
    """A container that runs."""

    started_at: datetime | None = None


class StateTerminated(Wire, frozen=True, kw_only=True):
    """A container that has ended, and how."""

    exit_code: int = always(0)
    signal: int = 0
    reason: str = ""
    message: str = ""
    started_at: datetime | None = None
    finished_at: datetime | None = None
    container_id: str = msgspec.field(default="", name="containerID")


class ContainerState(Wire, frozen=True, kw_only=True):
    """The state of a container. One of these is set, or none when it is unknown."""

    waiting: StateWaiting | None = None
    running: StateRunning | None = None
    terminated: StateTerminated | None = None


class ContainerStatus(Wire, frozen=True, kw_only=True):
    """How one container is doing."""

    name: str
    state: ContainerState = msgspec.field(default_factory=ContainerState)
    last_state: ContainerState = msgspec.field(default_factory=ContainerState)
    ready: bool = msgspec.field(default_factory=bool)
    restart_count: int = always(0)
    image: str = always("")
    image_id: str = msgspec.field(default_factory=str, name="imageID")
    container_id: str = msgspec.field(default="", name="containerID")
    started: bool | None = None


class PodCondition(CoreCondition, frozen=True, kw_only=True):
    """A condition of a Pod."""

    last_probe_time: datetime | None = None


class PodIP(Wire, frozen=True, kw_only=True):
    """One address."""

    ip: str = ""


class PodStatus(Wire, frozen=True, kw_only=True):
    """How a Pod is doing."""

    observed_generation: int = 0
    phase: str = ""
    conditions: tuple[PodCondition, ...] = ()
    message: str = ""
    reason: str = ""
    nominated_node_name: str = ""
    host_ip: str = msgspec.field(default="", name="hostIP")
    host_ips: tuple[PodIP, ...] = msgspec.field(default=(), name="hostIPs")
    pod_ip: str = msgspec.field(default="", name="podIP")
    pod_ips: tuple[PodIP, ...] = msgspec.field(default=(), name="podIPs")
    start_time: datetime | None = None
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    qos_class: str = ""


class Pod(Object, frozen=True, kw_only=True):
    """Containers that run together on one node."""

    RESOURCE: ClassVar[Resource] = Resource(
        group="",
        version="v1",
        kind="Pod",
        plural="pods",
        short_names=("po",),
        categories=("all",),
        status=True,
        columns=(
            Column("Status", ".status.phase"),
            AGE,
            Column("IP", ".status.podIP", wide=True),
            Column("Node", ".spec.nodeName", wide=True),
        ),
    )

    api_version: Literal["v1"] = always("v1")
    kind: Literal["Pod"] = always("Pod")
    spec: PodSpec
    status: PodStatus = msgspec.field(default_factory=PodStatus)


class ServicePort(Wire, frozen=True, kw_only=True):
    """A port of a Service, and the Pods' port behind it."""

    name: str = ""
    protocol: str = ""
    app_protocol: str | None = None
    port: int
    target_port: IntOrString | None = None
    node_port: int = 0


class ServiceSpec(Wire, frozen=True, kw_only=True):
    """Which Pods, under which address."""

    ports: tuple[ServicePort, ...] = ()
    selector: dict[str, str] = {}
    cluster_ip: str = msgspec.field(default="", name="clusterIP")
    cluster_ips: tuple[str, ...] = msgspec.field(default=(), name="clusterIPs")
    type: str = ""
    external_ips: tuple[str, ...] = msgspec.field(default=(), name="externalIPs")
    external_name: str = ""
    session_affinity: str = ""
    publish_not_ready_addresses: bool = False
    ip_families: tuple[str, ...] = ()
    ip_family_policy: str | None = None


class LoadBalancerIngress(Wire, frozen=True, kw_only=True):
    """One external address."""

    ip: str = ""
    hostname: str = ""
    ip_mode: str | None = None


class LoadBalancerStatus(Wire, frozen=True, kw_only=True):
    """The external addresses of a Service."""

    ingress: tuple[LoadBalancerIngress, ...] = ()


class ServiceStatus(Wire, frozen=True, kw_only=True):
    """How a Service can be reached."""

    load_balancer: LoadBalancerStatus = msgspec.field(default_factory=LoadBalancerStatus)
    conditions: tuple[Condition, ...] = ()


class Service(Object, frozen=True, kw_only=True):
    """One address for many Pods."""

    RESOURCE: ClassVar[Resource] = Resource(
        group="",
        version="v1",
        kind="Service",
        plural="services",
        short_names=("svc",),
        categories=("all",),
        status=True,
        columns=(
            Column("Type", ".spec.type"),
            Column("Cluster-IP", ".spec.clusterIP"),
            AGE,
        ),
    )

    api_version: Literal["v1"] = always("v1")
    kind: Literal["Service"] = always("Service")
    spec: ServiceSpec = msgspec.field(default_factory=ServiceSpec)
    status: ServiceStatus = msgspec.field(default_factory=ServiceStatus)
