"""The state of all planes as of the latest commit, which laws read besides the commit itself."""

from collections.abc import Collection, Iterable
from math import inf
from typing import Any, Final, TypeVar, cast

from compute.api import names
from compute.api.karmada import MemberCluster
from compute.api.resource_manager import Project
from compute.app.planes import CORE, HUB, PlaneRef
from compute.decide.federation import ProjectNamespace, identity
from compute.decide.federation.scheduling import is_ready
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Object
from tests.sim.whole.commits import KINDS, Commit, Key, Lately

K = TypeVar("K", bound=Object)

# Seconds that a cell which answers and does nothing is waited for. Times of deletion are of whole
# seconds, so the last of them may be missing.
PATIENCE: Final = 299.0


class ObservedState:
    """The current state of all planes, for the kinds that laws read.

    ``lag`` is how many seconds a decision may be on its way: caches behind, pauses, slow lines.
    ``forgiven`` are the uids of what vandals changed.
    """

    def __init__(self, lag: float) -> None:
        self.lag = lag
        self.forgiven: dict[str, str] = {}
        self._there: dict[tuple[PlaneRef, type[Object]], dict[Key, Object]] = {}
        self._hub_namespaces: dict[str, ProjectNamespace] = {}
        self._cut: dict[str, None] = {}
        self._unready: dict[str, None] = {}
        self._silent: dict[str, float] = {}  # when a cell was last unreachable
        self._ending: dict[str, float] = {}  # when the deletion of a project was asked for

    def find(self, ref: PlaneRef, kind: type[K], key: Key) -> K | None:
        return cast("K | None", self._there.get((ref, kind), {}).get(key))

    def every(self, ref: PlaneRef, kind: type[K]) -> Collection[K]:
        return cast("Collection[K]", self._there.get((ref, kind), {}).values())

    def cells(self) -> list[PlaneRef]:
        """The cells of which anything is known."""
        found = {ref: None for ref, _ in self._there if ref.role == "cell"}
        return list(found)

    def take(self, commit: Commit[Any]) -> None:
        """Let a commit become part of what is there."""
        kind = KINDS.get(commit.head.kind)
        if kind is None or not isinstance(commit.obj, kind):
            return
        there = self._there.setdefault((commit.ref, kind), {})
        if commit.gone:
            there.pop(commit.key, None)
        else:
            there[commit.key] = commit.obj
        self._learn(commit)

    def drop(self, ref: PlaneRef) -> None:
        """Forget a plane that is no more. Another one may come by its name."""
        for place in [place for place in self._there if place[0] == ref]:
            del self._there[place]

    # Which project owns what

    def whose(self, hub_namespace: str) -> ProjectNamespace | None:
        """The project and the namespace that a namespace of hub and cells stands for, or stood."""
        return self._hub_namespaces.get(hub_namespace)

    def project_of(self, hub_namespace: str) -> PlaneRef | None:
        origin = self.whose(hub_namespace)
        return None if origin is None else PlaneRef("project", names.cluster_key(origin.project))

    def ending_since(self, project: str, now: float) -> float:
        """When the deletion of a project was asked for; now where it was not."""
        return self._ending.get(project, now)

    def hub_namespaces_of(self, project: str) -> Iterable[str]:
        return [
            hub_namespace
            for hub_namespace, origin in self._hub_namespaces.items()
            if names.cluster_key(origin.project) == project
        ]

    # Which cells are reachable

    def cut(self, cell: str, now: float) -> None:
        self._cut[cell] = None
        self._silent[cell] = now

    def healed(self, cell: str, now: float) -> None:
        if cell in self._cut:
            del self._cut[cell]
            self._silent[cell] = now

    def is_cut(self, cell: str) -> bool:
        return cell in self._cut

    def was_silent(self, cell: str, since: float) -> bool:
        """Whether a cell was cut off, or not Ready for the hub, at any time since then."""
        now = cell in self._cut or cell in self._unready
        return now or self._silent.get(cell, -inf) >= since

    def _learn(self, commit: Commit[Any]) -> None:
        obj = commit.obj
        if isinstance(obj, Namespace) and commit.ref.role in {"hub", "cell"}:
            origin = identity(obj)
            if origin is not None:
                self._hub_namespaces.setdefault(obj.metadata.name, origin)
        elif isinstance(obj, MemberCluster) and commit.ref == HUB:
            self._learn_of_cell(obj, commit)
        elif isinstance(obj, Project) and commit.ref == CORE:
            self._learn_of_project(obj.metadata.name, commit)

    def _learn_of_project(self, name: str, commit: Commit[Any]) -> None:
        if commit.leaves:
            self._ending[name] = commit.at
        if commit.gone:
            self._ending.pop(name, None)
            self.drop(PlaneRef("project", name))

    def _learn_of_cell(self, cluster: MemberCluster, commit: Commit[Any]) -> None:
        cell = cluster.metadata.name
        if commit.gone or not is_ready(cluster):
            self._unready[cell] = None
            self._silent[cell] = commit.at
        elif cell in self._unready:
            del self._unready[cell]
            self._silent[cell] = commit.at


def recently(kept: dict[Any, Lately[Any]], key: Any, now: float) -> list[Any]:
    """The recent states under a key; none where nothing was ever noted."""
    states = kept.get(key)
    return [] if states is None else states.seen(now)
