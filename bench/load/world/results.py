"""The task and the results of one world, as they are sent between processes and written to files."""

import msgspec


class Task(msgspec.Struct, frozen=True):
    """One world to measure. Times are seconds."""

    instances: int
    cities: int
    folder: str
    phases: list[str]
    rest: float = 30.0
    touches: float = 100.0  # statuses a second
    seconds: float = 10.0  # of touching
    unavailable: str = "25%"
    patience: float = 600.0  # for each phase
    profiles: str = ""  # the folder for them, if any


class PhaseResult(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of one phase. Times are seconds."""

    seconds: float  # until the last Instance was Ready in its project, or the last Workload gone
    settled: float  # until every Workload said so too
    cpu: float  # until then
    listening: float  # of it, to measure
    writes: dict[str, int]  # until all was at rest, by role of the plane and resource
    passes: dict[str, int]  # by controller and result
    memory: int  # bytes that the process grew by
    hops: dict[str, tuple[float, float]] = {}  # p50 and p99, in ms

    @property
    def written(self) -> int:
        return sum(self.writes.values())


class Rest(msgspec.Struct, frozen=True):
    """The work of an idle world."""

    seconds: float
    cpu: float
    writes: dict[str, int]


class StatusDelays(msgspec.Struct, frozen=True):
    """The delay from a status write of a provider to the project, in ms."""

    rate: float  # a second
    count: int
    p50: float
    p99: float
    cpu: float  # seconds, for all


class WorldResult(msgspec.Struct, kw_only=True):
    """The results of one world. ``failed`` says which phase did not end."""

    instances: int
    cities: int
    growing: PhaseResult | None = None
    rest: Rest | None = None
    status: StatusDelays | None = None
    restarting: PhaseResult | None = None
    deleting: PhaseResult | None = None
    failed: str = ""


class Pods(msgspec.Struct, frozen=True):
    """The cost of so many Pods of a peer. Times are seconds, CPU is that of all its processes."""

    count: int
    growing: float
    growing_cpu: float
    deleting: float
    deleting_cpu: float
