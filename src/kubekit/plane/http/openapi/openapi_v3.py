"""OpenAPI v3: an index, and one document for each group and version."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from kubekit.plane.http.openapi import meta_schemas
from kubekit.plane.http.openapi.meta_schemas import reference
from kubekit.plane.http.openapi.operations import Operation, Parameter, PathOperations, paths_of
from kubekit.plane.http.openapi.schema_names import kind_triple, list_name, schema_name
from kubekit.plane.http.openapi.version import MAJOR, MINOR
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.patch import strategic_merge_patch

Document = dict[str, Any]
Schema = dict[str, Any]

INFO: Final = {"title": "Kubernetes API of a compute plane", "version": f"{MAJOR}.{MINOR}"}
_GROUP_VERSION_KIND: Final = "x-kubernetes-group-version-kind"
_STRATEGY: Final = "x-kubernetes-patch-strategy"
_MERGE_KEY: Final = "x-kubernetes-patch-merge-key"
_REASONS: Final = {200: "OK", 201: "Created", 202: "Accepted", 401: "Unauthorized"}
UNAUTHORIZED: Final = {"401": {"description": _REASONS[401]}}
_BEARER: Final = {"type": "apiKey", "in": "header", "name": "authorization"}


def index(hashes: Mapping[str, str], prefix: str = "") -> Document:
    """The response to /openapi/v3, given the hash of each document by its path.

    The hash is part of the URL, so a client may cache the document indefinitely. The URL is relative
    to the server, below which the plane may have a ``prefix``.
    """
    paths = {
        path: {"serverRelativeURL": f"{prefix}/openapi/v3/{path}?hash={hash_}"}
        for path, hash_ in hashes.items()
    }
    return {"paths": paths}


def document(kinds: Iterable[Kind]) -> Document:
    """The document of kinds that share a group and version."""
    kinds = tuple(kinds)
    paths = {path.path: _path(path) for kind in kinds for path in paths_of(kind)}
    return {
        "openapi": "3.0.0",
        "info": INFO,
        "paths": dict(sorted(paths.items())),
        "components": {"schemas": schemas(kinds), "securitySchemes": {"BearerToken": _BEARER}},
        "security": [{"BearerToken": []}],
    }


def schemas(kinds: Iterable[Kind]) -> dict[str, Schema]:
    """The schemas of the kinds, of their lists, and of the types that all kinds share, by name."""
    own: dict[str, Schema] = {}
    for kind in kinds:
        own[schema_name(kind)] = _object_schema(kind)
        own |= {
            schema_name(asked): _object_schema(asked)
            for asked in kind.virtual_subresources.values()
        }
        if not kind.virtual:
            own[list_name(kind)] = _list_schema(kind)
    return dict(sorted((meta_schemas.SHARED | own).items()))


def operation_head(operation: Operation) -> Document:
    """The part of an operation that v2 and v3 have in common."""
    return {
        "description": operation.description,
        "operationId": operation.name,
        "x-kubernetes-action": operation.action,
        _GROUP_VERSION_KIND: dict(operation.group_version_kind),
    }


def reason(code: int) -> str:
    return _REASONS[code]


def _with_merged_lists(kind: Kind) -> Schema:
    """The schema of a built-in kind, with the merge keys of its lists: kubectl uses them."""
    schema: Schema = dict(kind.schema)
    for path, key in strategic_merge_patch.lists_of(kind.resource).items():
        steps = path.split(".")
        if steps[0] in schema.get("properties", {}) and steps[0] != "metadata":
            keywords = {_STRATEGY: "merge"} | ({_MERGE_KEY: key} if key else {})
            schema = _with_keywords(schema, steps, keywords)
    return schema


def _with_keywords(schema: Schema, steps: list[str], keywords: Schema) -> Schema:
    """A copy of the schema, with keywords added at the end of a path that may lead through lists."""
    if not steps:
        return {**schema, **keywords}
    if "items" in schema:
        return {**schema, "items": _with_keywords(schema["items"], steps, keywords)}
    fields = schema["properties"]
    inner = _with_keywords(fields[steps[0]], steps[1:], keywords)
    return {**schema, "properties": {**fields, steps[0]: inner}}


def _object_schema(kind: Kind) -> Schema:
    metadata = reference(
        meta_schemas.OBJECT_META, "Its name, its labels, and what else all objects have."
    )
    schema = kind.schema if kind.custom else _with_merged_lists(kind)
    fields = {**schema.get("properties", {}), **meta_schemas.type_fields()}
    return {
        **schema,
        "properties": fields | {"metadata": metadata},
        _GROUP_VERSION_KIND: [kind_triple(kind)],
        **_selectable(kind),
    }


def _selectable(kind: Kind) -> Schema:
    paths = [{"fieldPath": path.removeprefix(".")} for path in kind.selectable_fields]
    return {"x-kubernetes-selectable-fields": paths} if paths else {}


def _list_schema(kind: Kind) -> Schema:
    items = {
        "description": f"The {kind.resource.plural}.",
        "type": "array",
        "items": reference(schema_name(kind)),
    }
    metadata = reference(meta_schemas.LIST_META, "Which page this is, and of which version.")
    return {
        "description": f"A list of {kind.resource.plural}.",
        "type": "object",
        "required": ["items"],
        "properties": meta_schemas.type_fields() | {"items": items, "metadata": metadata},
        _GROUP_VERSION_KIND: [kind_triple(kind) | {"kind": kind.list_kind}],
    }


def _path(path: PathOperations) -> Document:
    methods = {operation.method: _operation(operation) for operation in path.operations}
    return methods | {"parameters": [_parameter(parameter) for parameter in path.parameters]}


def _operation(operation: Operation) -> Document:
    body = {
        "content": _content(operation.body, operation.consumes),
        "required": operation.body_required,
    }
    responses = {
        str(code): {"description": reason(code), "content": _content(schema, ("application/json",))}
        for code, schema in operation.responses.items()
    }
    return (
        operation_head(operation)
        | {"parameters": [_parameter(parameter) for parameter in operation.parameters]}
        | ({"requestBody": body} if operation.body else {})
        | {"responses": responses | UNAUTHORIZED}
    )


def _parameter(parameter: Parameter) -> Document:
    return {
        "name": parameter.name,
        "in": parameter.place,
        "description": parameter.description,
        "schema": {"type": parameter.type, "uniqueItems": True},
    } | ({"required": True} if parameter.place == "path" else {})


def _content(schema: str, types: Iterable[str]) -> Document:
    return {media_type: {"schema": reference(schema)} for media_type in types}
