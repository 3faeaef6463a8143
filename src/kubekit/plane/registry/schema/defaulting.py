"""Defaults, filled in place by functions that are made of the schema once.

They visit only branches that hold a default, and leave nulls that may not stand where they stand:
a document that has one is no case for the fast path.
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
_MEMBERS: Final = 4  # that are looked at, and perhaps filled in, in a microsecond
_BYTES: Final = 8  # of a default that are made, and written later, in a microsecond
_Member = tuple[str, Callable[[], object] | None, bool, Fill | None]


class UncleanDefault(ValueError):
    """A default holds fields that its own schema does not know.

    Filling it in before the unknown fields are dropped would not be the same as doing so after.
    """


def filler(schema: Schema) -> Fill | None:
    """What fills in the defaults below this node, in place; None where there are none."""
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
    """What makes the default anew each time, since the document it goes into may be changed."""
    value = default(schema)
    if value is None:
        return None
    written = msgspec.json.encode(value)  # reading is the quickest way to copy
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
