"""Paths to routes: the kind, the namespace, the object, the subresource.

/api/v1/namespaces/<namespace>/<plural>/<name>/<subresource>
/apis/<group>/<version>/namespaces/<namespace>/<plural>/<name>/<subresource>
/apis/<group>/<version>/<plural>/<name>/<subresource>
/apis/<group>/<version>/watch/...     the old form of ?watch=true
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kubekit.api.errors import BadRequest
from kubekit.plane.http.http_errors import no_such_resource
from kubekit.plane.http.percent_escapes import unescape
from kubekit.plane.registry.kinds import Kind, Kinds
from kubekit.plane.registry.verbs.namespace_lifecycle import STORAGE as NAMESPACES

FINALIZE: Final = "finalize"
"""The subresource that removes a namespace's own finalizers, once it is empty."""
# Subresources of a namespace, at the position of a plural.
_PARTS_OF_NAMESPACES: Final = frozenset({"status", FINALIZE})
_NAME_AND_SUBRESOURCE: Final = 2


@dataclass(slots=True)
class Route:
    """A parsed resource path. ``everywhere`` is the collection of all namespaces."""

    kind: Kind
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    watch: bool = False

    @property
    def virtual_kind(self) -> Kind | None:
        """The kind of the virtual object that is created here, if it is not stored."""
        if self.subresource:
            return self.kind.virtual_subresources.get(self.subresource)
        return self.kind if self.kind.virtual else None

    @property
    def everywhere(self) -> bool:
        return self.kind.resource.namespaced and not self.namespace


def segments_of(path: str) -> list[str]:
    """The parts of a path between its slashes; one slash at the end does not matter."""
    segments = path[1:].split("/")
    if len(segments) > 1 and not segments[-1]:
        segments.pop()
    if "%" not in path:
        return segments
    return [unescape(segment, "the path") for segment in segments]


def parse_route(kinds: Kinds, segments: Sequence[str]) -> Route:
    """The route that a path names."""
    match segments:
        case ["api", version, *rest]:
            return _parse(kinds, "", version, rest)
        case ["apis", group, version, *rest] if group:
            return _parse(kinds, group, version, rest)
        case _:
            raise no_such_resource()


def _parse(kinds: Kinds, group: str, version: str, rest: list[str]) -> Route:
    watch = rest[:1] == ["watch"]
    if watch:
        rest = rest[1:]
    match rest:
        case ["namespaces", namespace, plural, *more] if plural not in _PARTS_OF_NAMESPACES:
            below = bool(namespace)
        case [plural, *more]:
            namespace, below = "", True
        case _:
            raise no_such_resource()
    kind = kinds.find(group, version, plural)
    if kind is None or not below:
        raise no_such_resource()
    return _checked(kind, namespace, more, watch=watch)


def _checked(kind: Kind, namespace: str, rest: list[str], *, watch: bool) -> Route:
    if len(rest) > _NAME_AND_SUBRESOURCE or not all(rest):
        raise no_such_resource()
    name = rest[0] if rest else ""
    subresource = rest[1] if len(rest) > 1 else ""
    resource = kind.resource
    if bool(namespace) != resource.namespaced and (namespace or name):
        raise no_such_resource()
    if subresource and (watch or not _has(kind, subresource)):
        raise no_such_resource()
    if kind.virtual and (name or watch or (resource.namespaced and not namespace)):
        raise no_such_resource()
    _check_segment("Name", name)
    _check_segment("Namespace", namespace)
    return Route(kind, namespace, name, subresource, watch)


def _has(kind: Kind, subresource: str) -> bool:
    resource = kind.resource
    return (
        (subresource == "status" and resource.status)
        or (subresource == "scale" and resource.scale is not None)
        or (subresource == FINALIZE and kind.storage == NAMESPACES)
        or subresource in kind.virtual_subresources
    )


def _check_segment(what: str, text: str) -> None:
    """Refuse names that no object can have and that other programs read as another path."""
    if text in (".", ".."):
        raise BadRequest(f"{what} parameter invalid: \"{text}\": may not be '{text}'")
    for wrong in ("/", "%"):
        if wrong in text:
            raise BadRequest(f"{what} parameter invalid: \"{text}\": may not contain '{wrong}'")
