"""networking.k8s.io/v1: NetworkPolicy, as far as a provider that runs Instances as Pods needs it."""

from typing import Annotated, ClassVar, Literal

import msgspec

from kubekit.api.meta import LabelSelector, Object
from kubekit.api.resource import AGE, Resource
from kubekit.api.wire import ATOMIC_LIST, Int32, IntOrString, Wire, always


class IPBlock(Wire, frozen=True, kw_only=True):
    """A range of addresses, less the exceptions."""

    cidr: str
    """The range, such as 10.0.0.0/8."""
    except_: Annotated[tuple[str, ...], ATOMIC_LIST] = msgspec.field(default=(), name="except")
    """Ranges within it that are excluded."""


class NetworkPolicyPort(Wire, frozen=True, kw_only=True):
    """A port, or a range of them, of one protocol."""

    end_port: Int32 | None = None
    """The last port of a range."""
    port: IntOrString | None = None
    """The port by number or name; all of them when absent."""
    protocol: str | None = None
    """TCP, UDP or SCTP; TCP is meant when absent."""


class NetworkPolicyPeer(Wire, frozen=True, kw_only=True):
    """Who may connect."""

    ip_block: IPBlock | None = None
    """A range of addresses."""


class NetworkPolicyIngressRule(Wire, frozen=True, kw_only=True):
    """Traffic that is let in: from these peers, to these ports."""

    from_: Annotated[tuple[NetworkPolicyPeer, ...], ATOMIC_LIST] = msgspec.field(
        default=(), name="from"
    )
    """Peers that may connect; any when empty."""
    ports: Annotated[tuple[NetworkPolicyPort, ...], ATOMIC_LIST] = ()
    """Ports they may reach; all of them when empty."""


class NetworkPolicySpec(Wire, frozen=True, kw_only=True):
    """Which Pods, and what traffic they let in. Of what no rule lets in, nothing passes."""

    pod_selector: LabelSelector = msgspec.field(default_factory=LabelSelector)
    policy_types: tuple[str, ...] = ()
    ingress: tuple[NetworkPolicyIngressRule, ...] = ()


class NetworkPolicy(Object, frozen=True, kw_only=True):
    """What traffic some Pods let in."""

    RESOURCE: ClassVar[Resource] = Resource(
        group="networking.k8s.io",
        version="v1",
        kind="NetworkPolicy",
        plural="networkpolicies",
        short_names=("netpol",),
        columns=(AGE,),
    )

    api_version: Literal["networking.k8s.io/v1"] = always("networking.k8s.io/v1")
    kind: Literal["NetworkPolicy"] = always("NetworkPolicy")
    spec: NetworkPolicySpec = msgspec.field(default_factory=NetworkPolicySpec)
