"""Encoding what is written to a plane."""

import math

import msgspec

from kubekit.api.errors import BadRequest

_UNWRITABLE = "the document cannot be written as JSON"


def encoded(value: object) -> bytes:
    """The value as JSON. A value that JSON cannot express is a `BadRequest`."""
    try:
        body = msgspec.json.encode(value)
        # The encoder writes null for NaN and the infinities.
        if b"null" in body:
            _refuse_unreal(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadRequest(f"{_UNWRITABLE}: {error}") from error
    return body


def _refuse_unreal(value: object) -> None:
    match value:
        case float() if not math.isfinite(value):
            raise BadRequest(f"{_UNWRITABLE}: {value} is not a number")
        case dict():
            for item in value.values():
                _refuse_unreal(item)
        case list() | tuple():
            for item in value:
                _refuse_unreal(item)
        case _:
            return
