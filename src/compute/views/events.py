"""One timeline of the events of a workload, of its deployments and of its instances.

An event names its object only, so the workload and the city follow from the object's name. A deployment
whose name has a hash is looked up. The objects may be gone: their events outlive them.

Controllers write the event of a city twice, on the deployment and on its workload. The timeline has it
once, with the city.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from compute.api import labels, names
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.reasons import Reason
from compute.decide.deployment.drains import PlannedEvent
from compute.decide.workload.workload_events import copy_for_workload
from compute.views.view import View
from kubekit.api import times
from kubekit.api.kinds.events import CoreEvent
from kubekit.api.meta import EPOCH

WARNING: Final = "Warning"
_WORKLOAD: Final = Workload.RESOURCE.kind
_DEPLOYMENT: Final = WorkloadDeployment.RESOURCE.kind
_INSTANCE: Final = Instance.RESOURCE.kind
_OF_WORKLOADS: Final = frozenset({_WORKLOAD, _DEPLOYMENT, _INSTANCE})
# Events on the Workload whose message starts with the city.
_OF_CITIES: Final = frozenset({Reason.CITY_AVAILABLE, Reason.CITY_STUCK})


class EventObject(View, frozen=True, kw_only=True):
    """The object that an event is about. It may be gone."""

    kind: str
    name: str


class EventView(View, frozen=True, kw_only=True):
    """One line of the timeline: equal events of an object, counted."""

    time: datetime  # when it happened last
    first: datetime
    count: int
    type: str
    city: str | None
    workload: str | None
    object: EventObject
    reason: str
    message: str
    reporter: str

    @property
    def is_warning(self) -> bool:
        return self.type == WARNING


class Origin(NamedTuple):
    """The workload and the city of an object; empty texts for what is not known."""

    workload: str = ""
    city: str = ""


@dataclass(frozen=True, slots=True)
class EventOrigins:
    """Finds the workload and the city of the object of an event."""

    deployments: Mapping[str, Origin]

    @classmethod
    def of(cls, deployments: Iterable[WorkloadDeployment]) -> "EventOrigins":
        return cls(
            {
                d.metadata.name: Origin(d.spec.workload_ref.name, d.spec.city_code)
                for d in deployments
            }
        )

    def with_deployments(self, deployments: Iterable[WorkloadDeployment]) -> "EventOrigins":
        """The same with these. Deployments that are gone stay known: their events outlive them."""
        return EventOrigins({**self.deployments, **EventOrigins.of(deployments).deployments})

    def find(self, event: CoreEvent) -> Origin:
        """The origin of an event; a city that the event itself records comes first."""
        found = self._of_object(event)
        recorded = event.metadata.labels.get(labels.CITY_CODE, "")
        return found._replace(city=recorded or found.city)

    def _of_object(self, event: CoreEvent) -> Origin:
        kind, name = event.involved_object.kind, event.involved_object.name
        if kind == _WORKLOAD:
            city = event.message.partition(" ")[0] if event.reason in _OF_CITIES else ""
            return Origin(name, city)
        deployment = deployment_of(event)
        if deployment in self.deployments:
            return self.deployments[deployment]
        parts = names.deployment_parts(deployment)
        return Origin(parts[0], parts[2]) if parts else Origin()


def deployment_of(event: CoreEvent) -> str:
    """The deployment that an event is about, itself or by one of its instances; empty if none."""
    name = event.involved_object.name
    match event.involved_object.kind:
        case kind if kind == _DEPLOYMENT:
            return name
        case kind if kind == _INSTANCE:
            parts = names.instance_parts(name)
            return parts[0] if parts else ""
        case _:
            return ""


@dataclass(frozen=True, slots=True)
class EventFilter:
    """The events that are wanted. An empty name means those of all objects of the namespace."""

    name: str = ""
    cities: tuple[str, ...] = ()
    after: datetime | None = None

    def admits(self, view: EventView) -> bool:
        is_of = (
            not self.name
            or view.workload == self.name
            or (view.object.kind in _OF_WORKLOADS and view.object.name == self.name)
        )
        in_city = not self.cities or view.city in self.cities
        return is_of and in_city and (self.after is None or view.time >= self.after)


class _Key(NamedTuple):
    """What equal events have in common."""

    kind: str
    name: str
    type: str
    reason: str
    message: str


class EventTimeline:
    """The events known so far. `add` returns the line that an event adds or changes."""

    def __init__(self, origins: EventOrigins, wanted: EventFilter) -> None:
        self.origins = origins
        self._wanted = wanted
        self._groups: dict[_Key, dict[str, CoreEvent]] = {}
        self._reported: set[tuple[str, str, str]] = set()  # workload, reason and message of a copy

    def add(self, event: CoreEvent) -> EventView | None:
        """The line of the event; None if it is known already, a copy, or not wanted."""
        key = _key(event)
        group = self._groups.setdefault(key, {})
        known = group.get(event.metadata.uid)
        if known and known.metadata.resource_version == event.metadata.resource_version:
            return None
        group[event.metadata.uid] = event
        if key.kind == _DEPLOYMENT:
            self._reported.add(_copy(key, self.origins.find(event)))
        return self._line(key)

    def remove(self, event: CoreEvent) -> None:
        """Forget an event that the server has deleted. That is not a line of its own."""
        key = _key(event)
        group = self._groups.get(key, {})
        group.pop(event.metadata.uid, None)
        if not group:
            self._groups.pop(key, None)

    def keep_only(self, uids: Iterable[str]) -> None:
        """Forget all other events: a new list does not have them any more."""
        kept = frozenset(uids)
        events = [each for group in self._groups.values() for each in group.values()]
        for event in events:
            if event.metadata.uid not in kept:
                self.remove(event)

    def lines(self) -> tuple[EventView, ...]:
        """All wanted lines, the oldest first."""
        lines = (self._line(key) for key in self._groups)
        return tuple(sorted((line for line in lines if line), key=_order))

    def _line(self, key: _Key) -> EventView | None:
        if key.kind == _WORKLOAD and (key.name, key.reason, key.message) in self._reported:
            return None
        events = tuple(self._groups[key].values())
        origin = self.origins.find(events[0])
        view = EventView(
            time=max(map(_last, events)),
            first=min(map(_first, events)),
            count=sum(map(_count, events)),
            type=key.type,
            city=origin.city or None,
            workload=origin.workload or None,
            object=EventObject(kind=key.kind, name=key.name),
            reason=key.reason,
            message=key.message,
            reporter=events[-1].reporting_component or events[-1].source.component,
        )
        return view if self._wanted.admits(view) else None


def timeline(
    events: Iterable[CoreEvent], origins: EventOrigins, wanted: EventFilter
) -> EventTimeline:
    """The timeline of these events."""
    made = EventTimeline(origins, wanted)
    for event in events:
        made.add(event)
    return made


def _key(event: CoreEvent) -> _Key:
    of = event.involved_object
    return _Key(of.kind, of.name, event.type, event.reason, event.message)


def _copy(key: _Key, origin: Origin) -> tuple[str, str, str]:
    """What the workload's copy of a deployment's event says."""
    is_warning = key.type == WARNING
    planned = PlannedEvent("Warning" if is_warning else "Normal", key.reason, key.message)
    copied = copy_for_workload(origin.city, planned)
    return origin.workload, copied.reason, copied.note


def _order(view: EventView) -> tuple[datetime, datetime, str, str]:
    return view.time, view.first, view.object.name, view.reason


def _count(event: CoreEvent) -> int:
    return max(event.count, event.series.count if event.series else 0, 1)


def _last(event: CoreEvent) -> datetime:
    """When it happened last. The times that are there differ in precision, so the latest counts."""
    series = event.series.last_observed_time if event.series else None
    known = (event.first_timestamp, event.last_timestamp, _micro(event.event_time), _micro(series))
    return max((each for each in known if each), default=_created(event))


def _first(event: CoreEvent) -> datetime:
    return _micro(event.event_time) or event.first_timestamp or _created(event)


def _created(event: CoreEvent) -> datetime:
    return event.metadata.creation_timestamp or EPOCH


def _micro(text: times.MicroTime | None) -> datetime | None:
    try:
        return times.parse(text) if text else None
    except times.TimeError:
        return None
