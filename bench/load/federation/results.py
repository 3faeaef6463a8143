"""What is asked of a run, and what it finds. Times are seconds, hops are milliseconds."""

import msgspec

from bench.load.federation.site import Engine
from bench.load.federation.timeline import Stage
from bench.load.federation.usage import Usage


class Sizes(msgspec.Struct, frozen=True, kw_only=True):
    """How much is measured. ``patience`` is the limit of each single wait."""

    latencies: int = 20
    lives: int = 5
    burst: int = 200
    burst_everywhere: int = 40
    rest: float = 30.0
    outage: float = 30.0
    patience: float = 300.0


class Hop(msgspec.Struct, frozen=True):
    """How long one part of the way takes, over ``count`` deployments."""

    count: int
    p50: float
    p99: float


class Burst(msgspec.Struct, frozen=True):
    """So many deployments at once: until all are at each stage, and until all is gone again."""

    deployments: int
    stages: dict[str, float]
    gone: float
    usage: dict[str, Usage]

    @property
    def seconds(self) -> float:
        """Until all was back where it was sent."""
        return max(self.stages.values())

    @property
    def down(self) -> float:
        return self.stages[Stage.IN_CELL]

    @property
    def cpu(self) -> float:
        return sum(each.cpu for each in self.usage.values())


class Rest(msgspec.Struct, frozen=True):
    """What happens while nothing is asked for: writes of ours without leases, None if unknown."""

    seconds: float
    writes: dict[str, int] | None
    usage: dict[str, Usage]


class Life(msgspec.Struct, frozen=True):
    """The requests of management for one Workload, from its creation until it is gone."""

    lives: int
    requests: dict[str, float]

    @property
    def total(self) -> float:
        return sum(self.requests.values())


class Recovery(msgspec.Struct, frozen=True):
    """After an outage of the hub: when something was on the hub, in its cell, and back.

    From when the hub answers again.
    """

    outage: float
    hub: float
    down: float
    back: float


class Delivery(msgspec.Struct, kw_only=True):
    """What was found with one carrier: the engine alone, or our managers as well."""

    hops: dict[str, Hop] = {}
    burst: Burst | None = None
    recovery: Recovery | None = None


class SiteResult(msgspec.Struct, kw_only=True):
    """Everything about one engine.

    ``alone``: without our managers, an agent answers in cells. ``managed``: with all of them;
    ``carried``: with management, and the agent in cells. ``beside``: what the engine alone
    delivered after the same outage as `managed`.
    """

    engine: Engine
    alone: Delivery = msgspec.field(default_factory=Delivery)
    managed: Delivery = msgspec.field(default_factory=Delivery)
    carried: Burst | None = None
    everywhere: Burst | None = None
    beside: Recovery | None = None
    rest: Rest | None = None
    life: Life | None = None
    failed: str = ""
