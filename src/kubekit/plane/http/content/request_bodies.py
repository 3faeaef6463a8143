"""Request bodies: decompressed within limits, decoded by their media type."""

import zlib
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from kubekit.api import fields
from kubekit.api.errors import BadRequest, UnsupportedMediaType
from kubekit.api.fields import FieldError
from kubekit.client.options import PLAIN_DELETE, DeleteOptions, PatchType, Propagation
from kubekit.client.transport import Document
from kubekit.plane.http.content import query_parameters as query
from kubekit.plane.http.content.protobuf import MEDIA_TYPE, read_protobuf
from kubekit.plane.http.content.query_parameters import Parameters
from kubekit.plane.http.http_errors import body_too_large
from kubekit.plane.http.messages import ServerRequest
from kubekit.plane.registry.body_decoder import read_json, read_yaml
from kubekit.plane.registry.kinds import Kind

_GZIP_WINDOW: Final = 31
_PATCHES: Final = ", ".join(PatchType)
_READERS: Final[Mapping[str, Callable[[bytes], object]]] = {
    "": read_json,
    "application/json": read_json,
    "application/yaml": read_yaml,
    MEDIA_TYPE: read_protobuf,
}
_UNKNOWN_FORMAT: Final = (
    "the body of the request was in an unknown format - accepted media types include: "
)
_PROPAGATIONS: Final = ("Foreground", "Background", "Orphan")
_TYPES: Final[Mapping[str, type]] = {
    "propagationPolicy": str,
    "gracePeriodSeconds": int,
    "orphanDependents": bool,
    "dryRun": list,
    "preconditions": dict,
}


def document(request: ServerRequest, kind: Kind, limit: int) -> Document:
    """The object in the body. The registry validates it."""
    value = _read(request, limit)
    if not isinstance(value, dict):
        word = kind.resource.kind
        raise BadRequest(f"the object provided is unrecognized (must be of type {word}): no object")
    return value


def patch_type(request: ServerRequest) -> PatchType:
    """The type of the patch in the body."""
    try:
        return PatchType(_media_type(request))
    except ValueError as problem:
        raise UnsupportedMediaType(f"{_UNKNOWN_FORMAT}{_PATCHES}") from problem


def patch(request: ServerRequest, written: PatchType, limit: int) -> object:
    """The patch in the body."""
    body = _unpacked(request, limit)
    return _read_config(body) if written is PatchType.APPLY else read_json(body)


def _read_config(body: bytes) -> object:
    """The configuration to apply. It is YAML, which for most clients means JSON."""
    if not body.startswith(b"{"):
        return read_yaml(body)
    try:
        return read_json(body)
    except BadRequest:
        return read_yaml(body)


def delete_options(request: ServerRequest, parameters: Parameters, limit: int) -> DeleteOptions:
    """The delete options, from the body or, without a body, from the query."""
    if request.body:
        value = _read(request, limit)
        return _delete_options(_checked(value))
    if not parameters:
        return PLAIN_DELETE
    return _delete_options(_from_query(parameters))


def _read(request: ServerRequest, limit: int) -> object:
    read = _READERS.get(_media_type(request))
    if read is None:
        accepted = ", ".join(filter(None, _READERS))
        raise UnsupportedMediaType(f"{_UNKNOWN_FORMAT}{accepted}")
    return read(_unpacked(request, limit))


def _media_type(request: ServerRequest) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _unpacked(request: ServerRequest, limit: int) -> bytes:
    encoding = request.headers.get("content-encoding")
    if encoding is None or encoding.lower() in ("", "identity"):
        return request.body
    if encoding.lower() != "gzip":
        raise UnsupportedMediaType("header Content-Encoding: only gzip is supported, and only once")
    decompressor = zlib.decompressobj(wbits=_GZIP_WINDOW)
    try:
        plain = decompressor.decompress(request.body, limit + 1)
    except zlib.error as problem:
        raise BadRequest(f"the body is not gzip: {problem}") from problem
    if len(plain) > limit:
        raise body_too_large(limit)
    if not decompressor.eof or decompressor.unused_data:
        raise BadRequest("the body is not one whole gzip stream")
    return plain


def _from_query(parameters: Parameters) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if policy := parameters.text("propagationPolicy"):
        values["propagationPolicy"] = policy
    if (grace := parameters.number("gracePeriodSeconds")) is not None:
        values["gracePeriodSeconds"] = grace
    if "orphanDependents" in parameters:
        values["orphanDependents"] = parameters.flag("orphanDependents")
    if dry_run := parameters.texts("dryRun"):
        values["dryRun"] = dry_run
    return values


def _checked(value: object) -> dict[str, Any]:
    """The body as DeleteOptions, each field of the type it must have."""
    if not isinstance(value, dict) or value.get("kind", "DeleteOptions") != "DeleteOptions":
        raise BadRequest("the body of a delete must be a DeleteOptions object")
    values = {name: entry for name, entry in value.items() if entry is not None}
    for name, expected in _TYPES.items():
        if name in values and type(values[name]) is not expected:
            raise BadRequest(f"DeleteOptions: field {name} has a value of the wrong type")
    for name in ("uid", "resourceVersion"):
        if not isinstance(_condition(values, name), str):
            raise BadRequest(f"DeleteOptions: field preconditions.{name} must be text")
    if not all(isinstance(entry, str) for entry in values.get("dryRun", ())):
        raise BadRequest("DeleteOptions: field dryRun must be a list of texts")
    return values


def _condition(values: dict[str, Any], name: str) -> object:
    found: object = values.get("preconditions", {}).get(name)
    return "" if found is None else found


def _delete_options(values: dict[str, Any]) -> DeleteOptions:
    problems = [*query.dry_run_errors(values.get("dryRun", ())), *_policy_errors(values)]
    if problems:
        raise query.wrong("DeleteOptions", problems)
    policy, orphan = values.get("propagationPolicy", ""), values.get("orphanDependents")
    if orphan is not None:
        policy = "Orphan" if orphan else "Background"
    return DeleteOptions(
        uid=str(_condition(values, "uid")),
        resource_version=str(_condition(values, "resourceVersion")),
        propagation=cast("Propagation", policy),
        grace_period_seconds=values.get("gracePeriodSeconds"),
        dry_run=bool(values.get("dryRun")),
    )


def _policy_errors(values: dict[str, Any]) -> list[FieldError]:
    policy = values.get("propagationPolicy", "")
    if policy and "orphanDependents" in values:
        detail = "orphanDependents and deletionPropagation cannot be both set"
        return [fields.invalid("propagationPolicy", policy, detail)]
    if policy and policy not in _PROPAGATIONS:
        return [fields.not_supported("propagationPolicy", policy, _PROPAGATIONS)]
    return []
