"""The operations of each kind by path, in a form that OpenAPI v2 and v3 share.

Clients use it for more than documentation: kubectl finds the schema of a kind through the kind of a
path, and sends ``fieldValidation`` only if the patch operation has that parameter.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from kubekit.plane.http.openapi import meta_schemas
from kubekit.plane.http.openapi.discovery import verbs
from kubekit.plane.http.openapi.schema_names import kind_triple, list_name, schema_name
from kubekit.plane.http.routes import FINALIZE
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.verbs.namespace_lifecycle import STORAGE as NAMESPACES

JSON_AND_YAML: Final = ("application/json", "application/yaml")
_PATCHES: Final = ("application/json-patch+json", "application/merge-patch+json")
_STRATEGIC: Final = "application/strategic-merge-patch+json"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter in the path or the query."""

    name: str
    type: str
    description: str
    place: str = "query"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method at one path. ``body`` and ``responses`` are names of schemas."""

    method: str
    action: str
    description: str
    name: str
    parameters: tuple[Parameter, ...] = ()
    body: str = ""
    body_required: bool = True
    consumes: tuple[str, ...] = JSON_AND_YAML
    responses: Mapping[int, str]
    group_version_kind: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PathOperations:
    """One path with all its methods."""

    path: str
    parameters: tuple[Parameter, ...]
    operations: tuple[Operation, ...]


def _query(**parameters: tuple[str, str]) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(name.strip("_"), type_, text) for name, (type_, text) in parameters.items()
    )


_NAMESPACE: Final = Parameter("namespace", "string", "The namespace of the objects.", "path")
_DRY_RUN: Final = _query(dryRun=("string", "All: judge the request, but store nothing."))
_WRITING: Final = _DRY_RUN + _query(
    fieldManager=("string", "Who makes this change, in at most 128 characters."),
    fieldValidation=("string", "What to do about unknown fields: Ignore, Warn or Strict."),
)
_PATCHING: Final = _WRITING + _query(
    force=("boolean", "Whether an apply takes fields over from other managers."),
)
_READING: Final = _query(resourceVersion=("string", "How fresh the response must be."))
_LISTING: Final = _query(
    allowWatchBookmarks=("boolean", "Whether a watch may send bookmarks."),
    continue_=("string", "The continue token of the previous page."),
    fieldSelector=("string", "Only objects with these field values."),
    labelSelector=("string", "Only objects with these labels."),
    limit=("integer", "The most objects in one response; the rest is fetched with continue."),
    resourceVersion=("string", "How fresh the response must be, or where a watch starts."),
    resourceVersionMatch=("string", "How to read resourceVersion: Exact or NotOlderThan."),
    sendInitialEvents=("boolean", "Whether a watch starts with the existing objects."),
    timeoutSeconds=("integer", "How long the request may last."),
    watch=("boolean", "Whether to follow the changes instead of listing."),
)
_DELETING: Final = _DRY_RUN + _query(
    gracePeriodSeconds=("integer", "How long the deletion may take; 0 means at once."),
    orphanDependents=("boolean", "Older form of propagationPolicy."),
    propagationPolicy=("string", "What becomes of dependents: Orphan, Background, Foreground."),
)


@dataclass(frozen=True, slots=True)
class _Rule:
    """The common properties of operations with the same action."""

    codes: tuple[int, ...]
    parameters: tuple[Parameter, ...]
    body: str = ""


_RULES: Final[Mapping[str, _Rule]] = {
    "list": _Rule((200,), _LISTING),
    "post": _Rule((200, 201, 202), _WRITING),
    "deletecollection": _Rule((200,), _LISTING + _DELETING, meta_schemas.DELETE_OPTIONS),
    "get": _Rule((200,), _READING),
    "put": _Rule((200, 201), _WRITING),
    "delete": _Rule((200, 202), _DELETING, meta_schemas.DELETE_OPTIONS),
    "patch": _Rule((200, 201), _PATCHING, meta_schemas.PATCH),
}
_SCALE_KIND: Final = {"group": "autoscaling", "version": "v1", "kind": "Scale"}


def root_of(kind: Kind) -> str:
    """The path of the kind's group and version."""
    resource = kind.resource
    return f"/apis/{resource.api_version}" if resource.group else f"/api/{resource.version}"


def paths_of(kind: Kind) -> Iterator[PathOperations]:
    """Every path of a kind, the collections first."""
    described = _Described(kind)
    if kind.virtual:
        yield described.virtual()
        return
    if kind.resource.namespaced:
        yield described.everywhere()
    yield described.collection()
    yield described.item()
    if kind.storage == NAMESPACES:
        yield described.replaced(FINALIZE, schema_name(kind))
    if kind.resource.scale:
        yield described.subresource("scale", meta_schemas.SCALE)
    if kind.resource.status:
        yield described.subresource("status", schema_name(kind))
    for name, virtual in kind.virtual_subresources.items():
        yield described.virtual_subresource(name, virtual)


class _Described:
    """The operations of one kind."""

    def __init__(self, kind: Kind) -> None:
        resource = kind.resource
        self._kind = kind
        self._own = (_NAMESPACE,) if resource.namespaced else ()
        self._named = Parameter("name", "string", f"The name of the {resource.kind}.", "path")
        within = "/namespaces/{namespace}" if resource.namespaced else ""
        self._collection = f"{root_of(kind)}{within}/{resource.plural}"

    def everywhere(self) -> PathOperations:
        plural, lists = self._kind.resource.plural, list_name(self._kind)
        words = f"list {plural} of all namespaces"
        listing = self._operation("get", "list", words, lists, scope="ForAllNamespaces")
        return PathOperations(f"{root_of(self._kind)}/{plural}", (), (listing,))

    def collection(self) -> PathOperations:
        own, word = schema_name(self._kind), self._kind.resource.kind
        operations = [
            self._operation("get", "list", f"list objects of kind {word}", list_name(self._kind)),
            self._operation("post", "post", f"create a {word}", own),
        ]
        if "deletecollection" in verbs(self._kind):
            words = f"delete many objects of kind {word}"
            operations.append(
                self._operation("delete", "deletecollection", words, meta_schemas.STATUS)
            )
        return PathOperations(self._collection, self._own, tuple(operations))

    def virtual(self) -> PathOperations:
        """The path of a virtual kind, whose only operation is create."""
        own, word = schema_name(self._kind), self._kind.resource.kind
        creation = self._operation("post", "post", f"create a {word}", own)
        return PathOperations(self._collection, self._own, (creation,))

    def virtual_subresource(self, name: str, virtual: Kind) -> PathOperations:
        """The path of a virtual subresource of one object."""
        words = f"create a {virtual.resource.kind} of a {self._kind.resource.kind}"
        creation = self._operation("post", "post", words, schema_name(virtual), scope=name)
        creation = replace(creation, group_version_kind=kind_triple(virtual))
        path = f"{self._collection}/{{name}}/{name}"
        return PathOperations(path, (self._named, *self._own), (creation,))

    def item(self) -> PathOperations:
        own, word = schema_name(self._kind), self._kind.resource.kind
        operations = (
            self._operation("get", "get", f"read a {word}", own),
            self._operation("put", "put", f"replace a {word}", own),
            self._operation("delete", "delete", f"delete a {word}", meta_schemas.STATUS),
            self._operation("patch", "patch", f"change a part of a {word}", own),
        )
        return PathOperations(f"{self._collection}/{{name}}", (self._named, *self._own), operations)

    def subresource(self, name: str, schema: str) -> PathOperations:
        words = f"{name} of a {self._kind.resource.kind}"
        operations = (
            self._operation("get", "get", f"read the {words}", schema, scope=name),
            self._operation("put", "put", f"replace the {words}", schema, scope=name),
            self._operation("patch", "patch", f"change a part of the {words}", schema, scope=name),
        )
        path = f"{self._collection}/{{name}}/{name}"
        return PathOperations(path, (self._named, *self._own), operations)

    def replaced(self, name: str, schema: str) -> PathOperations:
        """A write-only subresource."""
        words = f"replace the {name} of a {self._kind.resource.kind}"
        operation = self._operation("put", "put", words, schema, scope=name)
        path = f"{self._collection}/{{name}}/{name}"
        return PathOperations(path, (self._named, *self._own), (operation,))

    def _operation(
        self, method: str, action: str, description: str, schema: str, *, scope: str = ""
    ) -> Operation:
        rule = _RULES[action]
        return Operation(
            method=method,
            action=action,
            description=description,
            name=_name(action, self._kind, scope),
            parameters=rule.parameters,
            body=rule.body or (schema if method in ("post", "put") else ""),
            body_required=action not in ("delete", "deletecollection"),
            consumes=_patches(self._kind) if action == "patch" else JSON_AND_YAML,
            responses=dict.fromkeys(rule.codes, schema),
            group_version_kind=_SCALE_KIND
            if schema == meta_schemas.SCALE
            else kind_triple(self._kind),
        )


def _name(action: str, kind: Kind, scope: str) -> str:
    """A name that no other operation of the plane has."""
    resource = kind.resource
    group = "".join(word.capitalize() for word in (resource.group or "core").split("."))
    within = "" if scope == "ForAllNamespaces" or not resource.namespaced else "Namespaced"
    return (
        f"{action}{group}{resource.version.capitalize()}{within}{resource.kind}"
        f"{scope[:1].upper()}{scope[1:]}"
    )


def _patches(kind: Kind) -> tuple[str, ...]:
    return _PATCHES if kind.custom else (*_PATCHES, _STRATEGIC)
