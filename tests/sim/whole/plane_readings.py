"""All planes of a world at one moment, read directly from their stores: the end is judged by it."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from compute.api import labels, names
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.karmada import MemberCluster
from compute.api.karmada_work import ResourceBinding
from compute.app.planes import HUB, PlaneRef, Role
from kubekit.api import scheme
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Object
from kubekit.plane.plane import Plane
from tests.sim.whole.commits import Head, Key, head_of

K = TypeVar("K", bound=Object)


Picture = Mapping[str, Sequence[bytes]]  # what a plane holds, by resource


def picture(plane: Plane) -> Picture:
    """What a plane holds now; events aside, which end by themselves."""
    stored = {kind.storage: None for kind in plane.kinds if not kind.virtual}
    return {
        resource: [record.data for record in plane.store.collection(resource).range()]
        for resource in stored
        if not resource.endswith("/events")
    }


class Reading:
    """What is in the planes. Each kind of each plane is read once, when it is first asked for."""

    def __init__(self, pictures: Mapping[PlaneRef, Picture]) -> None:
        self._pictures = pictures
        self._read: dict[tuple[PlaneRef, type[Object]], dict[Key, Any]] = {}
        self._heads: dict[PlaneRef, list[Head]] = {}

    def planes(self, role: Role) -> list[PlaneRef]:
        return [ref for ref in self._pictures if ref.role == role]

    def all(self, ref: PlaneRef, kind: type[K]) -> Mapping[Key, K]:
        """Every object of a kind in a plane, by namespace and name."""
        found = self._read.get((ref, kind))
        if found is None:
            held = self._pictures[ref].get(resource_of(kind), ())
            objects = (scheme.decode_as(kind, data) for data in held)
            found = {(each.metadata.namespace, each.metadata.name): each for each in objects}
            self._read[ref, kind] = found
        return found

    def find(self, ref: PlaneRef, kind: type[K], key: Key) -> K | None:
        return self.all(ref, kind).get(key)

    def heads(self, ref: PlaneRef) -> list[Head]:
        """Everything in a plane, whatever its kind."""
        if ref not in self._heads:
            held = self._pictures[ref].values()
            self._heads[ref] = [head_of(data) for each in held for data in each]
        return self._heads[ref]

    # How the planes hang together

    def hub_namespace(self, project: PlaneRef, namespace: str) -> str:
        """What a namespace of a project is called on the hub and in cells."""
        found = self.find(project, Namespace, ("", namespace))
        return names.hub_namespace(found.metadata.uid) if found else ""

    def bound(self, hub_namespace: str, deployment: str) -> list[PlaneRef]:
        """The cells that the engine has chosen for a deployment."""
        name = names.resource_binding(deployment, WorkloadDeployment.RESOURCE.kind)
        binding = self.find(HUB, ResourceBinding, (hub_namespace, name))
        chosen = binding.spec.clusters if binding else ()
        return [PlaneRef("cell", target.name) for target in chosen]

    def cells_of(self, city: str) -> list[str]:
        """The cells that serve a city."""
        members = self.all(HUB, MemberCluster).values()
        key = labels.TOPOLOGY_CITY_CODE
        return [m.metadata.name for m in members if m.metadata.labels.get(key) == city]

    def members(self, cell: PlaneRef, deployment: WorkloadDeployment) -> list[Instance]:
        """The Instances of a deployment of a cell, by their names."""
        uid, hub_namespace = deployment.metadata.uid, deployment.metadata.namespace
        return [
            each
            for each in self.all(cell, Instance).values()
            if each.metadata.namespace == hub_namespace
            and any(owner.uid == uid for owner in each.metadata.owner_references)
        ]


def same_spec(one: Any, other: Any) -> bool:
    """Whether two objects ask for the same."""
    return msgspec.json.encode(one.spec) == msgspec.json.encode(other.spec)


def resource_of(kind: type[Object]) -> str:
    """What the store calls a kind."""
    return f"{kind.RESOURCE.group}/{kind.RESOURCE.plural}"
