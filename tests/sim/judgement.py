"""The expected final state, compared with the actual state of the planes."""

from collections.abc import Iterator, Mapping
from typing import TypeVar

from kubekit.api import scheme
from kubekit.api.meta import Object
from kubekit.plane.plane import Plane
from kubekit.runtime.requests import ClusterName
from tests.sim.controllers import FINALIZER, HUB, mirror_name
from tests.sim.kinds import Child, CopySpec, Mirror, Parent

K = TypeVar("K", bound=Object)


def differences(planes: Mapping[ClusterName, Plane]) -> list[str]:
    """Every difference from the expected state."""
    mirrors = {mirror.metadata.name: mirror for mirror in _all(planes[HUB], Mirror)}
    found: list[str] = []
    wanted: dict[str, None] = {}
    for cluster, plane in planes.items():
        if cluster == HUB:
            continue
        for parent in _all(plane, Parent):
            name = mirror_name(cluster, parent.metadata.name)
            wanted[name] = None
            found += _of_parent(cluster, parent)
            found += _of_mirror(cluster, parent, mirrors.get(name))
        found += _of_children(cluster, plane)
    found += [f"mirror {name} of a parent that is gone" for name in mirrors if name not in wanted]
    return found


def _of_parent(cluster: ClusterName, parent: Parent) -> Iterator[str]:
    name = f"{cluster}/{parent.metadata.name}"
    if parent.deleting:
        yield f"{name} is still being deleted"
    elif FINALIZER not in parent.metadata.finalizers:
        yield f"{name} is not held"
    elif parent.status.children != parent.spec.copies:
        yield f"{name} counts {parent.status.children} children of {parent.spec.copies}"


def _of_mirror(cluster: ClusterName, parent: Parent, mirror: Mirror | None) -> Iterator[str]:
    meta = parent.metadata
    spec = CopySpec(
        cluster=cluster, parent=meta.name, parent_uid=meta.uid, content=parent.spec.content
    )
    if mirror is None or mirror.spec != spec:
        yield f"the mirror of {cluster}/{meta.name} is not as it should be"


def _of_children(cluster: ClusterName, plane: Plane) -> Iterator[str]:
    wanted = {
        f"{parent.metadata.name}-{number}": CopySpec(
            parent=parent.metadata.name,
            parent_uid=parent.metadata.uid,
            number=number,
            content=parent.spec.content,
        )
        for parent in _all(plane, Parent)
        for number in range(parent.spec.copies)
    }
    there = {child.metadata.name: child.spec for child in _all(plane, Child)}
    for name in sorted({*wanted, *there}):
        if wanted.get(name) != there.get(name):
            yield f"child {cluster}/{name}: {_text_of(there.get(name))}, not {_text_of(wanted.get(name))}"


def _text_of(spec: CopySpec | None) -> str:
    return "none" if spec is None else f"{spec.content} of {spec.parent_uid[:8]}"


def _all(plane: Plane, kind: type[K]) -> list[K]:
    resource = kind.RESOURCE
    storage = plane.kinds.require(resource.api_version, resource.kind).storage
    return [
        scheme.decode_as(kind, record.data) for record in plane.store.collection(storage).range()
    ]
