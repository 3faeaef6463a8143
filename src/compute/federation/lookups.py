"""Lookups of bindings and Works in the hub's caches: by object, by cell and by namespace."""

from collections.abc import Iterable, Iterator

from compute.api import names
from compute.api.karmada_work import ResourceBinding, Work
from compute.federation import karmada_keys, works
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Object
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.watching.cache import Cache

_NONE = ""
_ANY = "any"


def works_of(hub: Cluster, namespace: str, binding: str) -> list[Work]:
    """The Works of a binding by its name, including Works of an earlier binding of that name."""
    return _works(hub).by("binding", _path(namespace, binding))


def works_about(hub: Cluster, cell: str, copy: Object) -> list[Work]:
    """The Works that send this object to a cell."""
    meta = copy.metadata
    return _works(hub).by("copy", _path(cell, copy.kind, meta.namespace, meta.name))


def works_into(hub: Cluster, cell: str, namespace: str) -> list[Work]:
    """The Works that send an object in this namespace to a cell."""
    return _works(hub).by("into", _path(cell, namespace))


def load(hub: Cluster, cell: str) -> int:
    """The number of Works for a cell. None of them is decoded."""
    return _works(hub).count("cell", cell)


def bindings_on(hub: Cluster, cell: str) -> list[ResourceBinding]:
    """The bindings that name a cell."""
    return _bindings(hub).by("cluster", cell)


def bindings_unplaced(hub: Cluster) -> list[ResourceBinding]:
    """The bindings that name no cell."""
    return _bindings(hub).by("cluster", _NONE)


def cells_with_namespace(hub: Cluster) -> list[str]:
    """The cells that have a namespace for their Works on the hub."""
    cache = hub.informers.of(Namespace).cache
    cache.add_index("cell", _is_execution_namespace)
    cells = (names.execution_cluster(each.metadata.name) for each in cache.by("cell", _ANY))
    return [cell for cell in cells if cell]


def binding_of(work: Work) -> tuple[str, str] | None:
    """The namespace and name of the binding that a Work is of; None for a namespace's Work."""
    annotations = work.metadata.annotations
    name = annotations.get(karmada_keys.BINDING_NAME)
    return (annotations.get(karmada_keys.BINDING_NAMESPACE, ""), name) if name else None


def _works(hub: Cluster) -> Cache[Work]:
    cache = hub.informers.of(Work).cache
    cache.add_index("binding", _by_binding)
    cache.add_index("copy", _by_copy)
    cache.add_index("into", _by_namespace)
    cache.add_index("cell", _by_cell)
    return cache


def _bindings(hub: Cluster) -> Cache[ResourceBinding]:
    cache = hub.informers.of(ResourceBinding).cache
    cache.add_index("cluster", _by_cluster)
    return cache


def _by_binding(work: Work) -> Iterable[str]:
    key = binding_of(work)
    return (_path(*key),) if key else ()


def _by_copy(work: Work) -> Iterator[str]:
    cell = names.execution_cluster(work.metadata.namespace)
    for head in works.heads(work) if cell else ():
        yield _path(cell or "", head.kind, head.metadata.namespace, head.metadata.name)


def _by_namespace(work: Work) -> Iterator[str]:
    cell = names.execution_cluster(work.metadata.namespace)
    for head in works.heads(work) if cell else ():
        if head.metadata.namespace:
            yield _path(cell or "", head.metadata.namespace)


def _by_cell(work: Work) -> Iterable[str]:
    return (names.execution_cluster(work.metadata.namespace) or _NONE,)


def _by_cluster(binding: ResourceBinding) -> Iterable[str]:
    return [target.name for target in binding.spec.clusters] or [_NONE]


def _is_execution_namespace(namespace: Namespace) -> Iterable[str]:
    return (_ANY,) if names.execution_cluster(namespace.metadata.name) else ()


def _path(*parts: str) -> str:
    return "/".join(parts)
