"""Discovery of what a plane serves: the classic documents and the aggregated ones.

Only served versions are listed. A kind's verbs and subresources follow from its `Resource`.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final, Literal

from kubekit.plane.http.openapi.schema_names import kind_triple
from kubekit.plane.http.routes import FINALIZE
from kubekit.plane.registry.kinds import Kind, rank_of_version
from kubekit.plane.registry.verbs.namespace_lifecycle import STORAGE as NAMESPACES

Document = dict[str, Any]
Generation = Literal["v2", "v2beta1"]

_VERBS: Final = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
_SUBRESOURCE_VERBS: Final = ("get", "patch", "update")
_VIRTUAL_VERBS: Final = ("create",)
# The verbs that Kubernetes hides for a kind whose definition is being deleted.
_NOT_WHILE_CLOSING: Final = frozenset({"create", "patch", "update"})
# Deleting all namespaces at once would empty the plane; Kubernetes has no such verb either.
_NOT_BY_THE_COLLECTION: Final = frozenset({("", "namespaces")})


def api_versions(kinds: Iterable[Kind]) -> Document:
    """The response to /api: the versions of the core group.

    There is no server address: the client knows one that works, a server behind a prefix does not.
    """
    return {
        "kind": "APIVersions",
        "versions": [version for version, _ in _versions(k for k in kinds if not k.resource.group)],
        "serverAddressByClientCIDRs": [],
    }


def group_list(kinds: Iterable[Kind]) -> Document:
    """The response to /apis: every named group with its versions."""
    groups = [_group(name, members) for name, members in _groups(kinds) if name]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def group(kinds: Iterable[Kind], name: str) -> Document:
    """The response to /apis/<group>."""
    members = [kind for kind in kinds if kind.resource.group == name]
    return {"kind": "APIGroup", "apiVersion": "v1"} | _group(name, members)


def resource_list(members: Sequence[Kind]) -> Document:
    """The response to /api/v1 or /apis/<group>/<version>, for the kinds of that version."""
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": members[0].resource.api_version,
        "resources": [entry for kind in members for entry in _classic(kind)],
    }


def aggregated(kinds: Iterable[Kind], *, core: bool, generation: Generation) -> Document:
    """All of /api (``core``) or of /apis in one document, so that a client needs one request."""
    items = [
        {"metadata": {"name": name} if name else {}, "versions": _aggregated_versions(members)}
        for name, members in _groups(kinds)
        if core is not bool(name)
    ]
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": f"apidiscovery.k8s.io/{generation}",
        "metadata": {},
        "items": items,
    }


def verbs(kind: Kind) -> tuple[str, ...]:
    """The verbs of a kind."""
    if kind.virtual:
        return _VIRTUAL_VERBS
    if kind.terminating:
        return tuple(verb for verb in _VERBS if verb not in _NOT_WHILE_CLOSING)
    place = (kind.resource.group, kind.resource.plural)
    if place in _NOT_BY_THE_COLLECTION:
        return tuple(verb for verb in _VERBS if verb != "deletecollection")
    return _VERBS


def _group(name: str, members: Iterable[Kind]) -> Document:
    versions = [
        {"groupVersion": f"{name}/{version}", "version": version}
        for version, _ in _versions(members)
    ]
    return {"name": name, "versions": versions, "preferredVersion": versions[0]}


def _aggregated_versions(members: Iterable[Kind]) -> list[Document]:
    return [
        {
            "version": version,
            "resources": [_aggregated(kind) for kind in kinds],
            "freshness": "Current",
        }
        for version, kinds in _versions(members)
    ]


def _classic(kind: Kind) -> Iterator[Document]:
    resource = kind.resource
    yield _nonempty(
        name=resource.plural,
        singularName=kind.singular,
        namespaced=resource.namespaced,
        kind=resource.kind,
        verbs=verbs(kind),
        shortNames=resource.short_names,
        categories=resource.categories,
    )
    for name, answer, its_verbs in _subresources(kind):
        yield {
            "name": f"{resource.plural}/{name}",
            "singularName": "",
            "namespaced": resource.namespaced,
            **({} if answer["kind"] == resource.kind else answer),
            "kind": answer["kind"],
            "verbs": its_verbs,
        }


def _aggregated(kind: Kind) -> Document:
    resource = kind.resource
    return _nonempty(
        resource=resource.plural,
        responseKind=kind_triple(kind),
        scope="Namespaced" if resource.namespaced else "Cluster",
        singularResource=kind.singular,
        verbs=verbs(kind),
        shortNames=resource.short_names,
        categories=resource.categories,
        subresources=[
            {"subresource": name, "responseKind": answer, "verbs": its_verbs}
            for name, answer, its_verbs in _subresources(kind)
        ],
    )


def _subresources(kind: Kind) -> Iterator[tuple[str, Document, tuple[str, ...]]]:
    """The subresources of a kind: name, the kind of the response, and verbs."""
    if kind.storage == NAMESPACES:
        yield FINALIZE, kind_triple(kind), ("update",)
    if kind.resource.scale:
        scale = {"group": "autoscaling", "version": "v1", "kind": "Scale"}
        yield "scale", scale, _SUBRESOURCE_VERBS
    if kind.resource.status:
        yield "status", kind_triple(kind), _SUBRESOURCE_VERBS
    for name, virtual in kind.virtual_subresources.items():
        yield name, kind_triple(virtual), _VIRTUAL_VERBS


def _groups(kinds: Iterable[Kind]) -> list[tuple[str, list[Kind]]]:
    by_group = sorted(kinds, key=lambda kind: kind.resource.group)
    return [(name, list(of)) for name, of in groupby(by_group, lambda kind: kind.resource.group)]


def _versions(members: Iterable[Kind]) -> list[tuple[str, list[Kind]]]:
    """The kinds by version, the version that clients should prefer first."""
    by_version = sorted(
        members, key=lambda kind: rank_of_version(kind.resource.version), reverse=True
    )
    return [(v, list(of)) for v, of in groupby(by_version, lambda kind: kind.resource.version)]


def _nonempty(**parts: object) -> Document:
    """The parts that are not empty. ``namespaced`` is kept even if it is false."""
    return {name: part for name, part in parts.items() if part or part is False}
