"""What types cannot say of a value: alternatives, and how many members an object has.

The types of `stricttypes` leave these keywords out. A prober asks them of a document that is right
otherwise; it visits only branches in which they stand.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from kubekit.api.structural import Judge
from kubekit.api.structural.nodes import Schema

Probe = Callable[[Any], bool]
"""Whether a value is right in what types cannot say of it."""

_COMBINED: Final = ("allOf", "anyOf", "oneOf", "not")
_COUNTED: Final = ("maxProperties", "minProperties")
_EITHER: Final = [{"type": "integer"}, {"type": "string"}]


def prober(schema: Schema, judge: Judge) -> Probe | None:
    """What asks a value of this node; None where there is nothing to ask."""
    own = {name: schema[name] for name in (*_COMBINED, *_COUNTED) if _says_something(schema, name)}
    probes = [_in_members(schema, judge), _in_items(schema, judge), _own(own, judge)]
    asked = [probe for probe in probes if probe is not None]
    if len(asked) <= 1:
        return asked[0] if asked else None
    return lambda value: all(probe(value) for probe in asked)


def _says_something(schema: Schema, name: str) -> bool:
    """Whether there is such a keyword; that of an int-or-string only repeats its type."""
    given = schema.get(name)
    return given is not None and given != [] and not (name == "anyOf" and given == _EITHER)


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

    def probe(value: object) -> bool:
        if not isinstance(value, dict):
            return True
        if not all(ask(value[name]) for name, ask in probes if name in value):
            return False
        return probe_other is None or all(
            probe_other(inner) for name, inner in value.items() if name not in inside
        )

    return probe


def _in_items(schema: Schema, judge: Judge) -> Probe | None:
    ask = prober(schema["items"], judge) if "items" in schema else None
    if ask is None:
        return None
    return lambda value: not isinstance(value, list) or all(map(ask, value))
