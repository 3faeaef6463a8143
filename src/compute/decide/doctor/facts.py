"""The facts that checks are made from. What could not be read is a fact too."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from compute.api.compute import Workload
from compute.api.networking import LocationBinding, Network
from compute.api.quota import AllowanceBucket
from compute.api.services import ServiceEntitlement
from compute.decide.progress import RolloutSnapshot
from kubekit.api.errors import ApiError, Forbidden, NotFound, Unauthorized
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import Object

K = TypeVar("K", bound=Object)


@dataclass(frozen=True, slots=True)
class Unread:
    """Objects that could not be read, and the refusal."""

    error: ApiError

    @property
    def is_absent(self) -> bool:
        """Whether the server does not serve the kind."""
        return isinstance(self.error, NotFound)

    @property
    def is_forbidden(self) -> bool:
        return isinstance(self.error, Forbidden)

    @property
    def why(self) -> str:
        """Why a check that needs the objects is skipped."""
        if self.is_absent:
            return "the server does not serve the kind"
        if isinstance(self.error, Unauthorized):
            return "the credentials are not accepted"
        return "no permission to read them" if self.is_forbidden else self.error.message


Objects = tuple[K, ...] | Unread


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """What a server answered. ``asked_at`` and ``answered_at`` are times of this machine."""

    address: str
    version: str = ""  # of its Kubernetes API
    error: ApiError | None = None  # of the first request, which needs no permission
    user: str = ""
    user_error: ApiError | None = None
    time: datetime | None = None  # of the server, in whole seconds
    asked_at: datetime
    answered_at: datetime
    own_version: str = ""  # of this command
    world_version: str = ""  # of the platform, where it is one of this machine
    start: str = ""  # the command that starts the platform, where it is one of this machine


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFacts:
    """What was read of a project."""

    project: str  # empty where the server itself is the project
    namespace: str
    workloads: Objects[Workload]
    checked: tuple[Workload, ...]  # those whose needs are checked: all, or the one that is named
    bindings: Objects[LocationBinding]
    networks: Objects[Network]  # of the namespaces that Workloads name
    buckets: Objects[AllowanceBucket]
    entitlements: Objects[ServiceEntitlement]
    others: Mapping[str, Unread]  # further kinds that could not be read, by name


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadFacts:
    """What was read of a Workload. ``history`` is None where there is none."""

    snapshot: RolloutSnapshot
    history: ConfigMap | Unread | None


@dataclass(frozen=True, slots=True)
class CellFacts:
    """A cell of the platform on this machine."""

    name: str
    city: str
    ready: bool
    cut: bool
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldFacts:
    """A platform on this machine, as its folder and its process are."""

    data: str
    pid: int  # 0 where no process runs it
    started: bool  # it has written that it is ready
    left_state: bool  # there is the state of a process that is gone
    url: str
    answers: bool  # something accepts connections at the port of the platform
    free_bytes: int
    log: str  # the path of its log
    errors: tuple[str, ...]  # the last errors in its log
    others: tuple[int, ...]  # further processes that were started for the same folder
    cells: tuple[CellFacts, ...] | Unread
    options: str  # what a command needs to name the folder: "" for the default one

    def command(self, arguments: str) -> str:
        """A command for this platform."""
        return f"compute {arguments}{self.options}"

    def only(self, cities: Collection[str]) -> "WorldFacts":
        """The same with the cells of these cities alone."""
        if isinstance(self.cells, Unread):
            return self
        return replace(self, cells=tuple(cell for cell in self.cells if cell.city in cities))
