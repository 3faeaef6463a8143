"""One reconcile pass of one object. Writes belong to the pass, and are refused after its end.

The pass is in a context variable, so that every function that a reconciler calls, and every task that
it starts, writes as part of that pass.
"""

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, Protocol

from msgspec.structs import replace

from kubekit.client.options import PLAIN_WRITE, WriteOptions
from kubekit.runtime.reconciling.freshness import Freshness
from kubekit.runtime.reconciling.object_keys import ObjectKey
from kubekit.runtime.reconciling.write_conflicts import WriteConflictBreaker
from kubekit.runtime.reporting.counters import ControllerCounters
from kubekit.runtime.reporting.events import EventRecorder
from kubekit.runtime.requests import Request


class Leadership(Protocol):
    """The time during which this process leads."""

    @property
    def number(self) -> int: ...

    def holds(self) -> bool:
        """Whether this process may act. Check it right before each write."""
        ...


class NotLeading(Exception):
    """The write was not sent, because this process may no longer be the leader."""


class PassOver(Exception):
    """The write was not sent, because its pass has ended and another may be running."""


@dataclass(slots=True)
class WriteContext:
    """The state that all passes of one controller share for their writes. ``writer`` is their field manager."""

    writer: str
    write_conflicts: WriteConflictBreaker
    freshness: Freshness
    counters: ControllerCounters
    recorder: EventRecorder | None = None

    def __post_init__(self) -> None:
        self._signed = replace(PLAIN_WRITE, field_manager=self.writer)

    _signed: WriteOptions = PLAIN_WRITE

    def sign(self, options: WriteOptions) -> WriteOptions:
        """The options, with the field manager of the controller unless they name one."""
        if options is PLAIN_WRITE:
            return self._signed
        return options if options.field_manager else replace(options, field_manager=self.writer)


class Pass:
    """One reconcile pass of one object.

    ``stopped`` says why it was cancelled: its time limit was exceeded, or its cluster disengaged.
    """

    __slots__ = (
        "context",
        "finished",
        "number",
        "reads",
        "request",
        "started",
        "stopped",
        "term",
        "writes",
    )

    def __init__(
        self, context: WriteContext, request: Request, number: int, term: Leadership | None
    ) -> None:
        self.context = context
        self.request = request
        self.number = number
        self.term = term
        self.writes = 0
        # Live reads, each with its transport and version.
        self.reads: dict[ObjectKey, tuple[object, str]] = {}
        self.finished = False
        self.stopped = ""
        self.started = 0.0

    def caches_lag(self) -> bool:
        """Whether a cache does not show yet what this pass read live, or passes of its request wrote."""
        freshness = self.context.freshness
        return freshness.expects(self.request) or any(
            freshness.lacks(transport, target, version)
            for target, (transport, version) in self.reads.items()
        )

    def may_write(self) -> None:
        """Raise unless a write may be sent now. Call it right before the write."""
        if self.term is not None and not self.term.holds():
            raise NotLeading(
                f"{self.context.writer} does not write for {self.request}: "
                f"term {self.term.number} is over"
            )
        if self.finished:
            raise PassOver(
                f"the pass of {self.request} by {self.context.writer} is over: "
                "a task that outlives its pass cannot write"
            )


current: Final[ContextVar[Pass | None]] = ContextVar("pass", default=None)
