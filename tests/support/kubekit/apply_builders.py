"""A kind with every type of field, and helpers to write it as several field managers."""

from typing import Any

import msgspec

from kubekit.plane.apply.entries import Author, fields_of, identity
from kubekit.plane.apply.managed_fields import created, updated
from kubekit.plane.apply.server_side_apply import applied
from kubekit.plane.apply.shapes import Shape

VERSION = "apply.example.com/v1"
TIME = "2024-05-01T12:00:00Z"

_TEXT = {"type": "string"}
_AB = {"type": "object", "properties": {"a": _TEXT, "b": _TEXT}}
_TEXTS = {"type": "object", "additionalProperties": _TEXT}
SPEC: dict[str, Any] = {
    "replicas": {"type": "integer"},
    "name": _TEXT,
    "flag": {"type": "boolean"},
    "num": {"type": "number"},
    "obj": _AB,
    "atom": {**_AB, "x-kubernetes-map-type": "atomic"},
    "map": _TEXTS,
    "maps": {
        "type": "object",
        "additionalProperties": {"type": "object", "properties": {"x": _TEXT, "y": _TEXT}},
    },
    "items": {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        "items": {"type": "object", "properties": {"name": _TEXT, "v": _TEXT, "w": _TEXT}},
    },
    "ports": {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["port", "proto"],
        "items": {
            "type": "object",
            "properties": {
                "port": {"type": "integer"},
                "proto": {"type": "string", "default": "TCP"},
                "n": _TEXT,
            },
        },
    },
    "set": {"type": "array", "x-kubernetes-list-type": "set", "items": _TEXT},
    "nums": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "number"}},
    "list": {"type": "array", "items": _TEXT},
    "ios": {"x-kubernetes-int-or-string": True},
    "when": {"type": "string", "format": "date-time"},
    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    "any": {"x-kubernetes-preserve-unknown-fields": True},
    "half": {
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": True,
        "properties": {"k": _TEXT, "o": {"type": "object", "properties": {"z": _TEXT}}},
    },
    "loose": {
        "x-kubernetes-preserve-unknown-fields": True,
        "properties": {"k": {"type": "integer"}},
        "items": _TEXT,
    },
    "emb": {
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "x-kubernetes-preserve-unknown-fields": True,
    },
    "nul": {"type": "string", "nullable": True},
    "nulobj": {**_AB, "nullable": True},
    "nulmap": {**_TEXTS, "nullable": True},
    "bare": {"type": "object"},
    "closed": {"type": "object", "additionalProperties": False, "properties": {"a": _TEXT}},
    "bag": {"type": "array"},
}
STATUS = {
    "phase": _TEXT,
    "conditions": {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        "items": {"type": "object", "properties": {"type": _TEXT, "status": _TEXT}},
    },
}
SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {"type": "object", "properties": SPEC},
        "status": {"type": "object", "properties": STATUS},
    },
}
SHAPE = Shape.of(SCHEMA, status=True)


def author(manager="m", time=TIME, subresource="", version=VERSION):
    return Author(manager, version, time, subresource)


def thing(spec=None, status=None, **metadata):
    document = {"apiVersion": VERSION, "kind": "Thing", "metadata": {"name": "x", **metadata}}
    if spec is not None:
        document["spec"] = spec
    if status is not None:
        document["status"] = status
    return document


def copied(value):
    """The value as it comes back from the wire."""
    return msgspec.json.decode(msgspec.json.encode(value))


def managed_by(document, entries):
    """The document as it would be stored and read again."""
    rest = {name: v for name, v in document["metadata"].items() if name != "managedFields"}
    kept = {"managedFields": entries} if entries else {}
    return copied({**document, "metadata": {**rest, **kept}})


class Story:
    """One object and the requests that write it."""

    def __init__(self, shape=SHAPE):
        self.shape = shape
        self.live: Any = None

    def put(self, manager, spec, **metadata):
        """Create or replace the object, except its status."""
        new = copied(thing(spec, **metadata))
        if self.live is None:
            return self._keep(new, created(self.shape, new, author(manager)))
        if "status" in self.live:
            new["status"] = self.live["status"]
        return self._keep(new, updated(self.shape, self.live, new, author(manager)))

    def put_status(self, manager, status):
        new = {**self.live, "status": copied(status)}
        by = author(manager, subresource="status")
        return self._keep(new, updated(self.shape, self.live, new, by))

    def apply(self, manager, spec, *, force=False, **metadata):
        config = thing(spec, **metadata)
        made = applied(self.shape, self.live, config, author(manager), force=force)
        return self._keep(made.document, made.managed_fields)

    @property
    def spec(self):
        return self.live.get("spec")

    @property
    def entries(self):
        return self.live["metadata"].get("managedFields", [])

    @property
    def owners(self):
        """What each manager owns in the spec."""
        found = {}
        for entry in self.entries:
            manager, operation, _, door = identity(entry)
            name = f"{manager} {operation}" + (f" {door}" if door else "")
            found[name] = fields_of(entry).get("f:spec", fields_of(entry))
        return found

    def _keep(self, document, entries):
        self.live = managed_by(document, entries)
        return self
