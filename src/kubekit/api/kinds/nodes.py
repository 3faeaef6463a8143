"""v1: Node, as far as a provider that runs Instances as Pods needs it."""

from typing import ClassVar, Literal

import msgspec

from kubekit.api.kinds.core import CoreCondition
from kubekit.api.meta import Object
from kubekit.api.resource import AGE, Resource
from kubekit.api.wire import Wire, always


class NodeSpec(Wire, frozen=True, kw_only=True):
    """How a node may be used."""

    unschedulable: bool = False


class NodeStatus(Wire, frozen=True, kw_only=True):
    """How a node is doing."""

    conditions: tuple[CoreCondition, ...] = ()


class ClusterNode(Object, frozen=True, kw_only=True):
    """A machine that runs Pods."""

    RESOURCE: ClassVar[Resource] = Resource(
        group="",
        version="v1",
        kind="Node",
        plural="nodes",
        namespaced=False,
        short_names=("no",),
        status=True,
        columns=(AGE,),
    )

    api_version: Literal["v1"] = always("v1")
    kind: Literal["Node"] = always("Node")
    spec: NodeSpec = msgspec.field(default_factory=NodeSpec)
    status: NodeStatus = msgspec.field(default_factory=NodeStatus)
