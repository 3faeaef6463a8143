"""OpenAPI v2: one document of all kinds, for older clients.

A v2 schema says less than a v3 one. What it cannot say is left out, so that it permits what v3
permits and perhaps more: a client that checks with it may miss a mistake, but refuses nothing
that the plane would take.
"""

from collections.abc import Iterable
from typing import Any, Final

from kubekit.plane.http.openapi.meta_schemas import REFERENCE
from kubekit.plane.http.openapi.openapi_v3 import (
    INFO,
    UNAUTHORIZED,
    operation_head,
    reason,
    schemas,
)
from kubekit.plane.http.openapi.operations import Operation, Parameter, PathOperations, paths_of
from kubekit.plane.registry.kinds import Kind

Document = dict[str, Any]
Schema = dict[str, Any]

_DEFINITION: Final = "#/definitions/"
# A default is allowed, but clients would take it for a required value.
_UNSAYABLE: Final = frozenset({"allOf", "anyOf", "default", "not", "nullable", "oneOf"})
_SHAPE: Final = frozenset({"type", "properties", "items", "additionalProperties", "required"})
_PRESERVED: Final = "x-kubernetes-preserve-unknown-fields"


def document(kinds: Iterable[Kind]) -> Document:
    """The whole of a plane's API."""
    kinds = tuple(kinds)
    paths = {path.path: _path(path) for kind in kinds for path in paths_of(kind)}
    definitions = {name: _schema(schema) for name, schema in schemas(kinds).items()}
    bearer = {"type": "apiKey", "in": "header", "name": "authorization"}
    return {
        "swagger": "2.0",
        "info": INFO,
        "paths": dict(sorted(paths.items())),
        "definitions": definitions,
        "securityDefinitions": {"BearerToken": bearer},
        "security": [{"BearerToken": []}],
    }


def _schema(node: Schema) -> Schema:
    if (target := _target(node)) is not None:
        siblings = {"description": node["description"]} if "description" in node else {}
        return siblings | {"$ref": target}
    dropped = _UNSAYABLE | (_SHAPE if _open(node) else frozenset())
    kept = {keyword: value for keyword, value in node.items() if keyword not in dropped}
    for word in ("items", "additionalProperties"):
        if isinstance(kept.get(word), dict):
            kept[word] = _schema(kept[word])
    if "properties" in kept:
        kept["properties"] = {name: _schema(child) for name, child in kept["properties"].items()}
    return kept


def _target(node: Schema) -> str | None:
    """The target of a node that is a bare reference."""
    inner = node.get("allOf", [node])
    found = inner[0].get("$ref") if len(inner) == 1 else None
    return found and found.replace(REFERENCE, _DEFINITION)


def _open(node: Schema) -> bool:
    """Whether the node accepts more than its type."""
    return bool(node.get("nullable") or node.get(_PRESERVED) or "anyOf" in node)


def _path(path: PathOperations) -> Document:
    methods = {operation.method: _operation(operation) for operation in path.operations}
    return methods | {"parameters": [_parameter(parameter) for parameter in path.parameters]}


def _operation(operation: Operation) -> Document:
    responses = {
        str(code): {"description": reason(code), "schema": {"$ref": _DEFINITION + schema}}
        for code, schema in operation.responses.items()
    }
    return operation_head(operation) | {
        "consumes": operation.consumes,
        "produces": ["application/json"],
        "schemes": ["https"],
        "parameters": [*_body(operation), *map(_parameter, operation.parameters)],
        "responses": responses | UNAUTHORIZED,
    }


def _body(operation: Operation) -> list[Document]:
    if not operation.body:
        return []
    schema = {"$ref": _DEFINITION + operation.body}
    parameter = {"name": "body", "in": "body", "schema": schema}
    return [parameter | ({"required": True} if operation.body_required else {})]


def _parameter(parameter: Parameter) -> Document:
    return {
        "name": parameter.name,
        "in": parameter.place,
        "description": parameter.description,
        "type": parameter.type,
        "uniqueItems": True,
    } | ({"required": True} if parameter.place == "path" else {})
