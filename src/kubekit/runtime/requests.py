"""What a reconciler is asked, and how it answers.

A request names an object and the cluster it is in, never what happened to it: lost, doubled and
reordered events then cannot do harm, since each pass looks at what is there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, NewType, Protocol

import msgspec

ClusterName = NewType("ClusterName", str)


def cluster_name(text: str) -> ClusterName:
    """The name of a cluster. There is none without letters: an empty name once meant "any"."""
    if not text or text != text.strip():
        raise ValueError(f"{text!r} does not name a cluster")
    return ClusterName(text)


class Request(msgspec.Struct, frozen=True, order=True, gc=False):
    """Which object to look at, and in which cluster. It says nothing of what happened to it."""

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
    """How a pass ended well. An exception is how it ended badly, and brings its own back-off."""

    requeue_after: timedelta | None = None


DONE: Final = Result()


class TerminalError(Exception):
    """Trying again cannot help: only a change of the object can. The pass is not repeated."""


class NotEngaged(Exception):
    """A cluster that is not, or no longer, among those that are looked after."""

    def __init__(self, cluster: ClusterName) -> None:
        super().__init__(f"the cluster {cluster} is not engaged")
        self.cluster = cluster


class Reconciler(Protocol):
    """Brings one object to where it should be. It must be safe to ask at any time, and again."""

    async def reconcile(self, request: Request) -> Result: ...


Enqueue = Callable[[Request], None]
