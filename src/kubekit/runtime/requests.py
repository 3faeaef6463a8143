"""The request that a reconciler receives, and the result it returns.

A request names an object and its cluster, never an event. Lost, doubled and reordered events
therefore do no harm: each pass reads the current state.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, NewType, Protocol

import msgspec

ClusterName = NewType("ClusterName", str)


def cluster_name(text: str) -> ClusterName:
    """The name of a cluster. It is never empty: an empty name could be read as "any cluster"."""
    if not text or text != text.strip():
        raise ValueError(f"{text!r} does not name a cluster")
    return ClusterName(text)


class Request(msgspec.Struct, frozen=True, order=True, gc=False):
    """The object to reconcile, and its cluster. It says nothing about what happened to the object."""

    cluster: ClusterName
    namespace: str
    name: str

    def __post_init__(self) -> None:
        if not self.cluster:
            raise ValueError(f"a request for {self} names no cluster")

    def __str__(self) -> str:
        return "/".join(filter(None, (self.cluster, self.namespace, self.name)))


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a pass that succeeded. A pass that fails raises; its request backs off."""

    requeue_after: timedelta | None = None


DONE: Final = Result()


class TerminalError(Exception):
    """An error that no retry can cure, only a change of the object. The request is not requeued."""


class NotEngaged(Exception):
    """The cluster is not engaged yet, or no longer."""

    def __init__(self, cluster: ClusterName) -> None:
        super().__init__(f"the cluster {cluster} is not engaged")
        self.cluster = cluster


class Reconciler(Protocol):
    """Brings one object to its desired state. It is idempotent: it may be called at any time."""

    async def reconcile(self, request: Request) -> Result: ...


Enqueue = Callable[[Request], None]
