"""networking.datumapis.com/v1alpha: networks, their presence at a location, and the locations.

An Instance names a Network. In the cell, a NetworkBinding asks for the Network at one Location,
which creates a NetworkContext there; a SubnetClaim asks for addresses within it and gets a Subnet.
The network operator makes these Ready, the infrastructure provider programs them.
"""

from typing import Annotated, ClassVar, Final, Literal

import msgspec

from compute.api.instance_spec import LocationRef, NetworkRef
from kubekit.api.kinds.value_sources import OptionalName
from kubekit.api.meta import EPOCH, Condition, LocalRef, Object
from kubekit.api.resource import AGE, Column, Resource, condition_column
from kubekit.api.wire import ATOMIC_MAP, Int32, Rule, Wire, always, list_map

GROUP: Final = "networking.datumapis.com"
VERSION: Final = "v1alpha"
_API_VERSION: Final = "networking.datumapis.com/v1alpha"
_READINESS: Final = (
    condition_column("Ready", "Ready", "status"),
    condition_column("Reason", "Ready", "reason"),
)

IPFamily = Annotated[str, Rule(enum=("IPv4", "IPv6"))]


def _resource(kind: str, plural: str, *columns: Column, namespaced: bool = True) -> Resource:
    return Resource(
        group=GROUP,
        version=VERSION,
        kind=kind,
        plural=plural,
        namespaced=namespaced,
        columns=columns,
        status=True,
    )


def _unheard(*types: str) -> tuple[Condition, ...]:
    return tuple(
        Condition(
            type=kind,
            status="Unknown",
            reason="Pending",
            message="Waiting for controller",
            last_transition_time=EPOCH,
        )
        for kind in types
    )


class NetworkIPAM(Wire, frozen=True, kw_only=True):
    """Who decides on the addresses of a network."""

    ipv4_range: str | None = None
    """The range that IPv4 addresses are taken from; chosen by the operator when absent."""
    ipv6_range: str | None = None
    """The range that IPv6 addresses are taken from; chosen by the operator when absent."""
    mode: Annotated[str, Rule(enum=("Auto", "Policy"))]
    """Auto: the operator allocates subnets as they are needed. Policy: policies say which."""


class NetworkSpec(Wire, frozen=True, kw_only=True):
    """A network that spans locations."""

    ip_families: Annotated[tuple[IPFamily, ...], Rule(default=("IPv4",))] = ("IPv4",)
    """The families of addresses in use."""
    ipam: NetworkIPAM
    """Who decides on the addresses."""
    mtu: Annotated[Int32, Rule(default=1460, minimum=1300, maximum=8856)] = 1460
    """The largest packet, in bytes."""


class NetworkStatus(Wire, frozen=True, kw_only=True):
    """The state of a network."""

    conditions: tuple[Condition, ...] = ()
    """The conditions of the network."""


class Network(Object, frozen=True, kw_only=True):
    """A private network of a project, the same in every location."""

    RESOURCE: ClassVar[Resource] = _resource(
        "Network",
        "networks",
        AGE,
        *_READINESS,
        Column("IPAM", ".spec.ipam.mode"),
        Column("IPFamilies", ".spec.ipFamilies"),
        Column("MTU", ".spec.mtu", "integer"),
    )

    api_version: Literal["networking.datumapis.com/v1alpha"] = always(_API_VERSION)
    kind: Literal["Network"] = always("Network")
    spec: NetworkSpec
    """The network."""
    status: NetworkStatus = msgspec.field(default_factory=NetworkStatus)
    """Its state."""


class NetworkBindingSpec(Wire, frozen=True, kw_only=True):
    """A request for one network at one location."""

    location: LocationRef
    """Where the network is wanted."""
    network: NetworkRef
    """The network that is wanted."""


class NetworkContextRef(Wire, frozen=True, kw_only=True):
    """A NetworkContext by namespace and name."""

    name: str
    """The name of the NetworkContext."""
    namespace: str
    """The namespace of the NetworkContext."""


class NetworkBindingStatus(Wire, frozen=True, kw_only=True):
    """Whether the network can be used at the location."""

    conditions: tuple[Condition, ...] = ()
    """Ready: the network can be used at the location."""
    network_context_ref: NetworkContextRef | None = None
    """The network's presence at the location."""


# The conditions of each kind before its first reconcile. The CRD defaults them on creation.
NEW_NETWORK_BINDING_STATUS: Final = NetworkBindingStatus(conditions=_unheard("Ready"))


class NetworkBinding(Object, frozen=True, kw_only=True):
    """A request for one network at one location, made by what attaches to it there."""

    RESOURCE: ClassVar[Resource] = _resource("NetworkBinding", "networkbindings", AGE, *_READINESS)

    api_version: Literal["networking.datumapis.com/v1alpha"] = always(_API_VERSION)
    kind: Literal["NetworkBinding"] = always("NetworkBinding")
    spec: NetworkBindingSpec
    """What is wanted where."""
    status: Annotated[NetworkBindingStatus, Rule(default=NEW_NETWORK_BINDING_STATUS)] = (
        msgspec.field(default_factory=NetworkBindingStatus)
    )
    """Whether it can be used."""


class NetworkContextSpec(Wire, frozen=True, kw_only=True):
    """One network at one location."""

    location: LocationRef
    """Where the network is present."""
    network: LocalRef
    """The network."""


class NetworkContextStatus(Wire, frozen=True, kw_only=True):
    """The state of a network at a location."""

    conditions: tuple[Condition, ...] = ()
    """Programmed: the provider has made it so. Ready: it can be used."""


NEW_NETWORK_CONTEXT_STATUS: Final = NetworkContextStatus(conditions=_unheard("Programmed", "Ready"))


class NetworkContext(Object, frozen=True, kw_only=True):
    """The presence of one network at one location."""

    RESOURCE: ClassVar[Resource] = _resource("NetworkContext", "networkcontexts", AGE, *_READINESS)

    api_version: Literal["networking.datumapis.com/v1alpha"] = always(_API_VERSION)
    kind: Literal["NetworkContext"] = always("NetworkContext")
    spec: Annotated[NetworkContextSpec, Rule(required=False)]
    """Which network, and where."""
    status: Annotated[NetworkContextStatus, Rule(default=NEW_NETWORK_CONTEXT_STATUS)] = (
        msgspec.field(default_factory=NetworkContextStatus)
    )
    """Its state."""


class SubnetClaimSpec(Wire, frozen=True, kw_only=True):
    """A request for addresses of one network at one location."""

    ip_family: IPFamily
    """The family of the addresses."""
    location: LocationRef
    """Where the addresses are wanted."""
    network_context: LocalRef
    """The network's presence at the location."""
    prefix_length: Int32 | None = None
    """The length of the prefix; chosen by the operator when absent."""
    start_address: str | None = None
    """The first address; chosen by the operator when absent."""
    subnet_class: str
    """The class of addresses, such as private."""


class SubnetClaimStatus(Wire, frozen=True, kw_only=True):
    """What the claim was given."""

    conditions: tuple[Condition, ...] = ()
    """Allocated: there are addresses. Programmed: the provider knows. Ready: use them."""
    prefix_length: Int32 | None = None
    """The length of the prefix that was allocated."""
    start_address: str | None = None
    """The first address that was allocated."""
    subnet_ref: LocalRef | None = None
    """The Subnet that was allocated."""


NEW_SUBNET_CLAIM_STATUS: Final = SubnetClaimStatus(
    conditions=_unheard("Allocated", "Programmed", "Ready")
)


class SubnetClaim(Object, frozen=True, kw_only=True):
    """A request for addresses of one network at one location."""

    RESOURCE: ClassVar[Resource] = _resource("SubnetClaim", "subnetclaims", AGE, *_READINESS)

    api_version: Literal["networking.datumapis.com/v1alpha"] = always(_API_VERSION)
    kind: Literal["SubnetClaim"] = always("SubnetClaim")
    spec: Annotated[SubnetClaimSpec, Rule(required=False)]
    """The addresses that are wanted."""
    status: Annotated[SubnetClaimStatus, Rule(default=NEW_SUBNET_CLAIM_STATUS)] = msgspec.field(
        default_factory=SubnetClaimStatus
    )
    """What it was given."""


class SubnetSpec(Wire, frozen=True, kw_only=True):
    """A range of addresses of one network at one location."""

    ip_family: IPFamily
    """The family of the addresses."""
    location: LocationRef
    """Where the addresses are used."""
    network_context: LocalRef
    """The network's presence at the location."""
    prefix_length: Int32
    """The length of the prefix."""
    start_address: str
    """The first address."""
    subnet_class: str
    """The class of addresses, such as private."""


class SubnetStatus(Wire, frozen=True, kw_only=True):
    """The addresses that were allocated."""

    conditions: tuple[Condition, ...] = ()
    """Allocated: there are addresses. Programmed: the provider knows. Ready: use them."""
    prefix_length: Int32 | None = None
    """The length of the prefix."""
    start_address: str | None = None
    """The first address."""


NEW_SUBNET_STATUS: Final = SubnetStatus(conditions=_unheard("Allocated", "Programmed", "Ready"))


class Subnet(Object, frozen=True, kw_only=True):
    """A range of addresses of one network at one location."""

    RESOURCE: ClassVar[Resource] = _resource(
        "Subnet",
        "subnets",
        AGE,
        *_READINESS,
        Column("Start Address", ".status.startAddress"),
        Column("Prefix Length", ".status.prefixLength"),
    )

    api_version: Literal["networking.datumapis.com/v1alpha"] = always(_API_VERSION)
    kind: Literal["Subnet"] = always("Subnet")
    spec: Annotated[SubnetSpec, Rule(required=False)]
    """The addresses."""
    status: Annotated[SubnetStatus, Rule(default=NEW_SUBNET_STATUS)] = msgspec.field(
        default_factory=SubnetStatus
    )
    """Their state."""


class LocationProviderGCP(Wire, frozen=True, kw_only=True):
    """A zone of Google Cloud."""

    project_id: str
    """The project that is billed."""
    region: str
    """The region, such as us-south1."""
    zone: str
    """The zone, such as us-south1-a."""


class LocationProvider(Wire, frozen=True, kw_only=True):
    """The provider of a location's machines. Empty when none needs to be named."""

    gcp: LocationProviderGCP | None = None
    """A zone of Google Cloud."""


class LocationSpec(Wire, frozen=True, kw_only=True):
    """A location that can run Instances."""

    location_class_name: str
    """Who operates it: datum-managed or self-managed."""
    provider: LocationProvider
    """The provider of its machines."""
    topology: dict[str, str]
    """Where it is; `topology.datum.net/city-code` names the city."""


class LocationStatus(Wire, frozen=True, kw_only=True):
    """The state of a location."""

    conditions: tuple[Condition, ...] = ()
    """Ready: the location can be used."""


class Location(Object, frozen=True, kw_only=True):
    """A location that can run Instances."""

    RESOURCE: ClassVar[Resource] = _resource(
        "Location",
        "locations",
        Column("Class", ".spec.locationClassName"),
        Column("City", r".spec.topology.topology\.datum\.net/city-code"),
        AGE,
        *_READINESS,
        namespaced=False,
    )

    api_version: Literal["networking.datumapis.com/v1alpha"] = always(_API_VERSION)
    kind: Literal["Location"] = always("Location")
    spec: Annotated[LocationSpec, Rule(required=False)]
    """The location."""
    status: LocationStatus = msgspec.field(default_factory=LocationStatus)
    """Its state."""


class BoundLocation(Wire, frozen=True, kw_only=True):
    """The Location that a project may use, by name."""

    name: OptionalName = ""
    """The name of the Location."""


class LocationBindingSpec(Wire, frozen=True, kw_only=True):
    """A location that a project may use, with what the project may know of it."""

    display_name: str = ""
    """The display name of the location."""
    location_class_name: str = ""
    """Who operates the location."""
    location_ref: Annotated[BoundLocation, ATOMIC_MAP]
    """The location."""
    topology: dict[str, str] = {}
    """Where the location is; `topology.datum.net/city-code` names the city."""


class LocationBindingStatus(Wire, frozen=True, kw_only=True):
    """Whether the project can use the location now."""

    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()
    """Available: the project can use the location."""


class LocationBinding(Object, frozen=True, kw_only=True):
    """Permission for a project to use a location, in the project's plane."""

    RESOURCE: ClassVar[Resource] = _resource(
        "LocationBinding",
        "locationbindings",
        Column("Location", ".spec.locationRef.name"),
        Column("Class", ".spec.locationClassName"),
        condition_column("Available", "Available", "status"),
        AGE,
        namespaced=False,
    )

    api_version: Literal["networking.datumapis.com/v1alpha"] = always(_API_VERSION)
    kind: Literal["LocationBinding"] = always("LocationBinding")
    spec: Annotated[LocationBindingSpec, Rule(required=False)]
    """The location that may be used."""
    status: LocationBindingStatus = msgspec.field(default_factory=LocationBindingStatus)
    """Whether it can be used now."""
