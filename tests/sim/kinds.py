"""The kinds of the simulation: a parent that wants copies, its children, and its mirror."""

from functools import cache
from typing import ClassVar, Literal

import msgspec

from kubekit.api.crd_generation import crd
from kubekit.api.meta import Object
from kubekit.api.resource import Resource
from kubekit.api.wire import Wire, always
from kubekit.plane.registry import builtins
from kubekit.plane.registry.definitions.served_kinds import kinds_of
from kubekit.plane.registry.kinds import Kinds

GROUP = "sim.test"
NAMESPACE = "default"


class ParentSpec(Wire, frozen=True, kw_only=True):
    """What is wanted."""

    content: str = ""
    """What each copy says."""
    copies: int = 1
    """How many children there are to be."""


class ParentStatus(Wire, frozen=True, kw_only=True):
    """What is there."""

    children: int = 0
    """How many children there are."""
    looks: int = 0
    """How often it was reconciled, for a controller that writes without need."""


class Parent(Object, frozen=True, kw_only=True):
    """Wants a number of children, and a mirror in the hub."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP, version="v1", kind="Parent", plural="parents", status=True
    )

    api_version: Literal["sim.test/v1"] = always("sim.test/v1")
    kind: Literal["Parent"] = always("Parent")
    spec: ParentSpec = msgspec.field(default_factory=ParentSpec)
    status: ParentStatus = msgspec.field(default_factory=ParentStatus)


class CopySpec(Wire, frozen=True, kw_only=True):
    """The parent, and a text."""

    cluster: str = ""
    """The cluster of the parent, for a mirror."""
    parent: str = ""
    """The name of the parent."""
    parent_uid: str = ""
    """The very parent it was made for."""
    number: int = 0
    """Which of the children it is."""
    content: str = ""
    """What the parent said."""


class Child(Object, frozen=True, kw_only=True):
    """One of the copies that a parent wants, in the same plane."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP, version="v1", kind="Child", plural="children"
    )

    api_version: Literal["sim.test/v1"] = always("sim.test/v1")
    kind: Literal["Child"] = always("Child")
    spec: CopySpec = msgspec.field(default_factory=CopySpec)


class Mirror(Object, frozen=True, kw_only=True):
    """The copy of a parent in the hub."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP, version="v1", kind="Mirror", plural="mirrors"
    )

    api_version: Literal["sim.test/v1"] = always("sim.test/v1")
    kind: Literal["Mirror"] = always("Mirror")
    spec: CopySpec = msgspec.field(default_factory=CopySpec)


@cache
def served() -> Kinds:
    """The kinds that a simulated plane serves. Computed once: parsing the schemas is slow."""
    own = [kind for cls in (Parent, Child, Mirror) for kind in kinds_of(crd(cls, _undescribed))]
    return Kinds((*builtins.core(), *own))


def _undescribed(_: type) -> dict[str, str]:
    return {}
