"""Events: what happened to an object, reported to users. They are kept for about an hour.

The same event is served twice, in the old shape (v1) and the new one (events.k8s.io/v1).
"""

from datetime import datetime
from typing import ClassVar, Literal

import msgspec

from kubekit.api.kinds.core import ObjectReference
from kubekit.api.meta import Object
from kubekit.api.resource import Column, Resource
from kubekit.api.times import MicroTime
from kubekit.api.wire import Int32, Wire, always


class EventSource(Wire, frozen=True, kw_only=True):
    """The reporter of the event, in the old shape."""

    component: str = ""
    """The program that reports it."""
    host: str = ""
    """The machine that the program runs on."""


class EventSeries(Wire, frozen=True, kw_only=True):
    """How often it happened, and when last."""

    count: Int32 = 0
    """How often it has happened."""
    last_observed_time: MicroTime | None = None
    """When it happened last."""


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
    """The object of the event."""
    related: ObjectReference | None = None
    """Another object that is involved."""
    type: str = ""
    """Normal, or Warning."""
    reason: str = ""
    """Why it happened, in one word of CamelCase."""
    action: str = ""
    """What was done about the object, in one word of CamelCase."""
    message: str = ""
    """What happened, for people to read."""
    source: EventSource = msgspec.field(default_factory=EventSource)
    """The reporter, in the old shape."""
    reporting_component: str = ""
    """The controller that reports it, such as example.com/controller."""
    reporting_instance: str = ""
    """The instance of the controller that reports it."""
    first_timestamp: datetime | None = None
    """When it happened first."""
    last_timestamp: datetime | None = None
    """When it happened last."""
    event_time: MicroTime | None = None
    """When it happened first, to the microsecond."""
    count: Int32 = 0
    """How often it has happened."""
    series: EventSeries | None = None
    """Of an event that goes on happening: how often, and when last."""


class Event(Object, frozen=True, kw_only=True):
    """An event in the new shape. The fields named deprecated have the values of the old one."""

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
    """The object of the event."""
    related: ObjectReference | None = None
    """Another object that is involved."""
    type: str = ""
    """Normal, or Warning."""
    reason: str = ""
    """Why it happened, in one word of CamelCase."""
    action: str = ""
    """What was done about the object, in one word of CamelCase."""
    note: str = ""
    """What happened, for people to read."""
    reporting_controller: str = ""
    """The controller that reports it, such as example.com/controller."""
    reporting_instance: str = ""
    """The instance of the controller that reports it."""
    event_time: MicroTime | None = None
    """When it happened first, to the microsecond."""
    series: EventSeries | None = None
    """Of an event that goes on happening: how often, and when last."""
    deprecated_source: EventSource | None = None
    """The old shape's source."""
    deprecated_first_timestamp: datetime | None = None
    """The old shape's firstTimestamp."""
    deprecated_last_timestamp: datetime | None = None
    """The old shape's lastTimestamp."""
    deprecated_count: Int32 = 0
    """The old shape's count."""
