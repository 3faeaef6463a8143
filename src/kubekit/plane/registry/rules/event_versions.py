"""The two versions of an event, v1 and events.k8s.io/v1: one object, stored as v1.

The new version renames some fields, and keeps the times and counts of the old one as deprecated
fields.
"""

from collections.abc import Mapping
from typing import Final

from kubekit.api.structural.nodes import Document
from kubekit.plane.registry.kinds import Conversion

NEW_NAMES: Final[Mapping[str, str]] = {
    "involvedObject": "regarding",
    "message": "note",
    "reportingComponent": "reportingController",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
}
_OLD_NAMES: Final[Mapping[str, str]] = {new: old for old, new in NEW_NAMES.items()}


def to_core(event: Document) -> Document:
    """An event of events.k8s.io/v1 as v1. It always has an involvedObject."""
    return {"involvedObject": {}} | _renamed(event, _OLD_NAMES) | {"apiVersion": "v1"}


def from_core(event: Document) -> Document:
    """An event of v1 as events.k8s.io/v1."""
    return _renamed(event, NEW_NAMES) | {"apiVersion": "events.k8s.io/v1"}


VIEW: Final = Conversion(to_storage=to_core, from_storage=from_core)


def _renamed(event: Document, names: Mapping[str, str]) -> Document:
    return {names.get(name, name): value for name, value in event.items()}
