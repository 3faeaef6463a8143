"""One Event of v1 for something that happens to an object once or repeatedly.

Only a v1 Event may have both the times and count of the old form and the time and series of the new
form: events.k8s.io/v1 refuses the former. So every reader finds the fields it expects, for example
`kubectl get events --sort-by=.lastTimestamp`.

A server refuses an Event with a value that is too long or missing, so values are cut and completed
here: a long message must not be lost.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from msgspec.structs import replace

from kubekit.api import times
from kubekit.api.kinds.core import ObjectReference
from kubekit.api.kinds.events import CoreEvent, EventSeries, EventSource
from kubekit.api.meta import NAME_LIMIT, Object, ObjectMeta
from kubekit.api.selectors import label_syntax
from kubekit.environment import ExecutionEnvironment

EventType = Literal["Normal", "Warning"]

WINDOW: Final = 360.0  # seconds; the same message after a longer pause is a new event
REFRESH: Final = 300.0  # seconds between two writes of a series that continues
LONGEST_NOTE: Final = 1024  # bytes, like the other limits
LONGEST_WORD: Final = 128

_DIGITS: Final = 16
# Control characters: some servers refuse them, and some terminals interpret them.
_BLANKS: Final = dict.fromkeys((*range(10), *range(11, 32), *range(127, 160)), " ")
_NAMELESS: Final = "default"  # the namespace of events about cluster-scoped objects


@dataclass(frozen=True, slots=True)
class Reporter:
    """The reporting controller, and the instance of its process."""

    controller: str
    instance: str

    def __post_init__(self) -> None:
        if fault := label_syntax.key_fault(self.controller):
            raise ValueError(f"the controller {self.controller!r} cannot report events: {fault}")
        if not self.instance:
            raise ValueError(f"the controller {self.controller} has no reporting instance")


@dataclass(frozen=True, slots=True)
class EventMessage:
    """The content of an event. Equal messages about an object belong to one series."""

    type: EventType
    reason: str
    note: str
    action: str


@dataclass(slots=True, eq=False)
class OngoingSeries:
    """The occurrences of one message about one object; times are of the loop.

    ``reported`` is how many of them were written, or could not be written.
    """

    first: CoreEvent
    last_seen: float
    count: int = 1
    last: datetime | None = None
    reported: int = 0
    reported_at: float = 0.0
    stored: CoreEvent | None = field(default=None, repr=False)

    def again(self, when: datetime, now: float) -> None:
        """Count one more occurrence."""
        self.count += 1
        self.last = when
        self.last_seen = now

    def is_due(self, now: float) -> bool:
        """Whether to write it: at once when it starts and when it first repeats, then rarely."""
        return self.reported < min(self.count, 2) or (
            self.reported < self.count and now >= self.reported_at + REFRESH
        )

    def is_over(self, now: float) -> bool:
        return now > self.last_seen + WINDOW

    def event(self) -> CoreEvent:
        """The Event that reports all occurrences."""
        if self.last is None:
            return self.first
        observed = times.format_micro(self.last)
        return replace(
            self.first,
            count=self.count,
            last_timestamp=times.seconds(self.last),
            series=EventSeries(count=self.count, last_observed_time=observed),
        )


def first(
    regarding: Object, message: EventMessage, reporter: Reporter, environment: ExecutionEnvironment
) -> CoreEvent:
    """The Event of the first occurrence of a message."""
    now = environment.now()
    reason = _plain(message.reason, LONGEST_WORD) or "Unknown"
    return CoreEvent(
        metadata=ObjectMeta(
            name=_name(regarding, environment.chance.getrandbits),
            namespace=regarding.metadata.namespace or _NAMELESS,
        ),
        involved_object=_reference(regarding),
        type=message.type,
        reason=reason,
        action=_plain(message.action, LONGEST_WORD) or reason,
        message=_plain(message.note, LONGEST_NOTE),
        source=EventSource(component=reporter.controller),
        reporting_component=reporter.controller,
        reporting_instance=_plain(reporter.instance, LONGEST_WORD),
        first_timestamp=times.seconds(now),
        last_timestamp=times.seconds(now),
        event_time=times.format_micro(now),
        count=1,
    )


def cut(text: str, limit: int) -> str:
    """As much of the text as fits into so many bytes, in whole characters."""
    return text.encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")


def _plain(text: str, limit: int) -> str:
    return cut(text.translate(_BLANKS), limit)


def _name(regarding: Object, bits: Callable[[int], int]) -> str:
    """A name that starts with the name of the object, if that is valid for an Event."""
    number = f"{bits(4 * _DIGITS):0{_DIGITS}x}"
    name = regarding.metadata.name[: NAME_LIMIT - 1 - _DIGITS].rstrip("-.")
    plain = name if _is_subdomain(name) else regarding.RESOURCE.kind.lower()
    return f"{plain}.{number}"


def _is_subdomain(name: str) -> bool:
    """Whether a name is a DNS subdomain. Names of roles, for example, may have colons and capitals."""
    return label_syntax.key_fault(f"{name}/x") is None


def _reference(regarding: Object) -> ObjectReference:
    metadata = regarding.metadata
    return ObjectReference(
        api_version=regarding.api_version,
        kind=regarding.kind,
        namespace=metadata.namespace,
        name=metadata.name,
        uid=metadata.uid,
        resource_version=metadata.resource_version,
    )
