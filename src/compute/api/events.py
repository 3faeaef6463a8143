"""Events: what happened to an object, told to people. They are kept for an hour or so.

The same event is served twice, in the old shape (v1) and the new one (events.k8s.io/v1).
"""

from datetime import datetime
from typing import ClassVar, Literal

import msgspec

from compute.api.core import ObjectReference
from compute.api.meta import Object
from compute.api.resource import Column, Resource
from compute.api.times import MicroTime
from compute.api.wire import Wire, always


class EventSource(Wire, frozen=True, kw_only=True):
    """Who tells it, in the old shape."""

    component: str = ""
    host: str = ""


class EventSeries(Wire, frozen=True, kw_only=True):
    """How often it happened, and when last."""

    count: int = 0
    last_observed_time: MicroTime | None = None


class CoreEvent(Object, frozen=True, kw_only=True):
    """An event in the old shape, which every tool reads."""

    RESOURCE: ClassVar[Resource] = Resource(
        group="",
        version="v1",
        kind="Event",
        plural="events",
        short_names=("ev",),
        columns=(
            Column("Last Seen", ".lastTimestamp", "date"),
            Column("Type", ".type"),
            Column("Reason", ".reason"),
            Column("Object", ".involvedObject.name"),
            Column("Message", ".message"),
        ),
    )

    api_version: Literal["v1"] = always("v1")
    kind: Literal["Event"] = always("Event")
    involved_object: ObjectReference
    related: ObjectReference | None = None
    type: str = ""
    reason: str = ""
    action: str = ""
    message: str = ""
    source: EventSource = msgspec.field(default_factory=EventSource)
    reporting_component: str = ""
    reporting_instance: str = ""
    first_timestamp: datetime | None = None
    last_timestamp: datetime | None = None
    event_time: MicroTime | None = None
    count: int = 0
    series: EventSeries | None = None


class Event(Object, frozen=True, kw_only=True):
    """An event in the new shape. The fields named deprecated carry the old one's."""

    RESOURCE: ClassVar[Resource] = Resource(
        group="events.k8s.io",
        version="v1",
        kind="Event",
        plural="events",
        short_names=("ev",),
        columns=(
            Column("Last Seen", ".eventTime", "date"),
            Column("Type", ".type"),
            Column("Reason", ".reason"),
            Column("Object", ".regarding.name"),
            Column("Message", ".note"),
        ),
    )

    api_version: Literal["events.k8s.io/v1"] = always("events.k8s.io/v1")
    kind: Literal["Event"] = always("Event")
    regarding: ObjectReference | None = None
    related: ObjectReference | None = None
    type: str = ""
    reason: str = ""
    action: str = ""
    note: str = ""
    reporting_controller: str = ""
    reporting_instance: str = ""
    event_time: MicroTime | None = None
    series: EventSeries | None = None
    deprecated_source: EventSource | None = None
    deprecated_first_timestamp: datetime | None = None
    deprecated_last_timestamp: datetime | None = None
    deprecated_count: int = 0
