"""Changes of every property of a Workload's spec: changed, emptied, removed, and restored."""

import copy
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from compute.api.compute import Workload
from kubekit.api.errors import Invalid
from tests.support.generated.property_specs import OTHERWISE, RESERVED, Spec, machine, sandbox
from tests.support.kubekit.schema_nodes import nodes, schema_of_kind

Place = tuple[str | int, ...]  # where a value stands in a spec

STAGES: Final = ("changed", "emptied", "removed", "mistyped", "back")
_TOKENS: Final = re.compile(r"\[\]|\{\}|[^.\[\]{}]+")
_KEY: Final = re.compile(r"\[([^\]\d][^\]]*)\]")  # labels[tier]
_EMPTY: Final = {"object": {}, "array": [], "string": "", "integer": 0, "boolean": False}
_ATTACHMENTS: Final = r"spec\.template\.spec\.runtime\..*\.volumeAttachments\[.*"
_VOLUMES: Final = r"spec\.template\.spec\.volumes\[.*"
# What may be blamed instead: the other end of a reference, and a range without its beginning.
_REFERRING: Final = {
    r"template\.spec\.volumes.*": _ATTACHMENTS,
    r"template\.spec\.runtime.*\.volumeAttachments.*": _VOLUMES,
    r".*\.ingress\[\]\.ports\[\]\.port": r".*\.endPort",
}


@dataclass(frozen=True)
class Walk:
    """A property, where it stands in a spec, and another value for it."""

    path: str  # as in the schema: template.spec.volumes[].name
    place: Place
    start: Spec
    other: Any

    def spec(self, stage: str) -> Spec:
        """The spec at a stage of the walk."""
        made = copy.deepcopy(self.start)
        parent, last = _at(made, self.place[:-1]), self.place[-1]
        if stage == "removed":
            del parent[last]
        elif stage != "back":
            parent[last] = self._value(stage)
        return made

    def is_named(self, refusal: Invalid) -> bool:
        """Whether a refusal names the property, what it is missing from, or what refers to it."""
        field, parent = _field(self.place), _field(self.place[:-1])
        causes = refusal.details.causes if refusal.details else ()
        blamed = [_KEY.sub(r".\1", cause.field) for cause in causes]
        return any(
            one == parent
            or _is_within(one, field)
            or any(
                re.fullmatch(p, self.path) and re.fullmatch(b, one) for p, b in _REFERRING.items()
            )
            for one in blamed
        )

    def _value(self, stage: str) -> Any:
        kind = properties()[self.path].get("type", "integer")  # or a text, of amounts and ports
        wrong = ["wrong"] if kind != "array" else "wrong"
        return {"changed": self.other, "emptied": _EMPTY[kind], "mistyped": wrong}[stage]


@cache
def properties() -> Mapping[str, Mapping[str, Any]]:
    """Every property of the spec in the generated CRD, arrays by item, maps by value."""
    spec = schema_of_kind(Workload)["properties"]["spec"]
    return {path: schema for path, schema in nodes(spec) if path}


@cache
def walks() -> tuple[Walk, ...]:
    """A walk for every property that a user may set."""
    return tuple(walk for walk in map(_walk, properties()) if walk is not None)


def reserved() -> Iterator[Walk]:
    """For everything that no user may set, the attempt to add it; its other stages mean nothing."""
    start = sandbox(_first)
    for path, value in RESERVED.items():
        above, _, name = path.rpartition(".")
        place = next(places(start, above))
        yield Walk(path, (*place, name), start, value)


def reserved_properties() -> set[str]:
    """The properties that attempts to add what is reserved have in them."""
    return {
        path
        for above, value in RESERVED.items()
        for path in properties()
        if path.startswith(above) and next(places(value, path[len(above) :]), None) is not None
    }


def places(value: Any, path: str) -> Iterator[Place]:
    """The locations of the values that a schema path selects."""
    return _places(value, tuple(_TOKENS.findall(path)))


def _places(value: Any, tokens: tuple[str, ...]) -> Iterator[Place]:
    if not tokens:
        yield ()
        return
    for step in _steps(value, tokens[0]):
        yield from ((step, *below) for below in _places(value[step], tokens[1:]))


def _steps(value: Any, token: str) -> Iterable[str | int]:
    if token == "[]":
        return range(len(value)) if isinstance(value, list) else ()
    if not isinstance(value, dict):
        return ()
    return list(value) if token == "{}" else [token] if token in value else []


def _walk(path: str) -> Walk | None:
    for made in (sandbox, machine):
        start = made(_first)
        place = next(places(start, path), None)
        if place is not None:
            return Walk(path, place, start, _other(path, made(_second), place))
    return None


def _other(path: str, second: Spec, place: Place) -> Any:
    return OTHERWISE[path] if path in OTHERWISE else _at(second, place)


def _at(value: Any, place: Place) -> Any:
    for step in place:
        value = value[step]
    return value


def _field(place: Place) -> str:
    """What a refusal calls a place."""
    return "spec" + "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in place)


def _is_within(field: str, above: str) -> bool:
    return field == above or (field.startswith(above) and field[len(above)] in ".[")


def _first(one: Any, _: Any) -> Any:
    return one


def _second(_: Any, other: Any) -> Any:
    return other
