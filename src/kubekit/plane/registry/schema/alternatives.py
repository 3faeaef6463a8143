"""Checks that types cannot express: alternatives, and the number of members of an object.

The types of `strict_types` ignore these keywords. A probe checks them on a document that is otherwise
valid. It visits only branches that use them.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from kubekit.api.structural import Judge
from kubekit.api.structural.nodes import Schema

Probe = Callable[[Any], bool]
"""Whether a value passes the checks that types cannot express."""

_COMBINED: Final = ("allOf", "anyOf", "oneOf", "not")
_COUNTED: Final = ("maxProperties", "minProperties")
_EITHER: Final = [{"type": "integer"}, {"type": "string"}]


def prober(schema: Schema, judge: Judge) -> Probe | None:
    """The check of a value of this node; None if there is nothing to check."""
    own = {name: schema[name] for name in (*_COMBINED, *_COUNTED) if _is_set(schema, name)}
    probes = [_in_members(schema, judge), _in_items(schema, judge), _own(own, judge)]
    present = [probe for probe in probes if probe is not None]
    if len(present) <= 1:
        return present[0] if present else None
    return lambda value: all(probe(value) for probe in present)


def _is_set(schema: Schema, name: str) -> bool:
    """Whether the keyword has a value; the anyOf of an int-or-string only repeats its type."""
    value = schema.get(name)
    return value is not None and value != [] and not (name == "anyOf" and value == _EITHER)


def _own(schema: Schema, judge: Judge) -> Probe | None:
    if not schema:
        return None
    return lambda value: value is None or judge.accepts(value, schema)


def _in_members(schema: Schema, judge: Judge) -> Probe | None:
    inside = {n: prober(inner, judge) for n, inner in schema.get("properties", {}).items()}
    probes = [(name, probe) for name, probe in inside.items() if probe is not None]
    others = schema.get("additionalProperties")
    probe_other = prober(others, judge) if isinstance(others, Mapping) else None
    if not probes and probe_other is None:
        return None

    def probe_members(value: object) -> bool:
        if not isinstance(value, dict):
            return True
        if not all(probe(value[name]) for name, probe in probes if name in value):
            return False
        return probe_other is None or all(
            probe_other(inner) for name, inner in value.items() if name not in inside
        )

    return probe_members


def _in_items(schema: Schema, judge: Judge) -> Probe | None:
    probe = prober(schema["items"], judge) if "items" in schema else None
    if probe is None:
        return None
    return lambda value: not isinstance(value, list) or all(map(probe, value))
