"""One world to measure, and what was found: what crosses from process to process, and into files."""

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


class Bout(msgspec.Struct, frozen=True, kw_only=True):
    """What one phase took. Times are seconds."""

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
    """What was done by a world that had nothing to do."""

    seconds: float
    cpu: float
    writes: dict[str, int]


class Touched(msgspec.Struct, frozen=True):
    """How late the project showed what providers wrote, in ms."""

    rate: float  # a second
    count: int
    p50: float
    p99: float
    cpu: float  # seconds, for all


class Found(msgspec.Struct, kw_only=True):
    """Everything about one world. A phase that did not end is told of in ``failed``."""

    instances: int
    cities: int
    growing: Bout | None = None
    rest: Rest | None = None
    status: Touched | None = None
    restarting: Bout | None = None
    deleting: Bout | None = None
    failed: str = ""


class Pods(msgspec.Struct, frozen=True):
    """What so many Pods of a peer took. Times are seconds, CPU is of all its processes together."""

    count: int
    growing: float
    growing_cpu: float
    deleting: float
    deleting_cpu: float
