"""Fills in defaults in place. The functions that do so are built once per schema.

They visit only branches with a default. Invalid nulls stay: a document with one takes the exact path.
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from kubekit.api.fields import Path
from kubekit.api.structural import unknown_fields
from kubekit.api.structural.nodes import Document, Schema, default, describes_objects
from kubekit.plane.registry.schema import validation_budget

Fill = Callable[[Any], None]
_DECODER: Final = msgspec.json.Decoder()
_MEMBERS: Final = 4  # members that are checked and filled in, per microsecond
_BYTES: Final = 8  # bytes of a default that are decoded, and encoded later, per microsecond
_Member = tuple[str, Callable[[], object] | None, bool, Fill | None]


class UncleanDefault(ValueError):
    """A default has fields that are unknown to its own schema.

    The order of filling in and of dropping unknown fields would then change the result.
    """


def filler(schema: Schema) -> Fill | None:
    """The function that fills in the defaults below this node; None if there are none."""
    in_object = _in_object(schema) if describes_objects(schema) else None
    in_list = _in_list(schema["items"]) if "items" in schema else None
    if in_object is None or in_list is None:
        return in_object or in_list

    def fill(value: object) -> None:
        in_object(value)
        in_list(value)

    return fill


def _in_object(schema: Schema) -> Fill | None:
    members = [
        (name, _maker(known), bool(known.get("nullable")), filler(known))
        for name, known in schema.get("properties", {}).items()
    ]
    members = [member for member in members if member[1] or member[3]]
    others = schema.get("additionalProperties")
    fill_other = filler(others) if isinstance(others, dict) else None
    named = schema.get("properties", {})

    price = len(members) / _MEMBERS

    def fill(value: object) -> None:
        if isinstance(value, dict):
            validation_budget.spend(price)
            _fill_members(value, members)
            if fill_other is not None:
                for name, inner in value.items():
                    if name not in named:
                        fill_other(inner)

    return fill if members or fill_other else None


def _fill_members(value: Document, members: list[_Member]) -> None:
    for name, make, nullable, fill in members:
        inner = value.get(name)
        if inner is None and make is not None and not (nullable and name in value):
            inner = value[name] = make()
        if fill is not None and inner is not None:
            fill(inner)


def _in_list(schema: Schema) -> Fill | None:
    make, nullable, fill_item = _maker(schema), schema.get("nullable"), filler(schema)

    def fill(value: object) -> None:
        if isinstance(value, list):
            for position, item in enumerate(value):
                if item is None and make is not None and not nullable:
                    value[position] = make()
                if fill_item is not None:
                    fill_item(value[position])

    return fill if fill_item or (make and not nullable) else None


def _maker(schema: Schema) -> Callable[[], object] | None:
    """The function that builds a new copy of the default, since the document may be changed."""
    value = default(schema)
    if value is None:
        return None
    written = msgspec.json.encode(value)  # decoding is the fastest copy
    price = len(written) / _BYTES
    if isinstance(value, dict | list):
        if unknown_fields({"at": value}, {"properties": {"at": schema}}, Path("default")):
            raise UncleanDefault
    elif price < 1:
        return lambda: value

    def make() -> object:
        validation_budget.spend(price)
        return _DECODER.decode(written)

    return make
