"""The mounted planes, by path prefix."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from kubekit.plane.http.content.watch_streams import Watches
from kubekit.plane.http.fairness import PlaneQueue
from kubekit.plane.http.http_errors import no_such_resource
from kubekit.plane.http.interfaces import PlaneBackend
from kubekit.plane.http.verbs import VerbContext


@dataclass(slots=True, eq=False)
class MountedPlane:
    """A mounted plane, with its queue and its open watches."""

    plane: PlaneBackend
    queue: PlaneQueue
    watches: Watches = field(default_factory=Watches)
    context: VerbContext | None = None


class Mounts:
    """Planes by the path below which they are served. The longest matching prefix wins."""

    def __init__(self) -> None:
        self._by_prefix: dict[tuple[str, ...], MountedPlane] = {}
        self._depths: tuple[int, ...] = ()

    @property
    def watches(self) -> int:
        return sum(len(mount.watches) for mount in self._by_prefix.values())

    def add(self, prefix: str, plane: PlaneBackend, queue: PlaneQueue) -> None:
        key = _key(prefix)
        if key in self._by_prefix:
            raise ValueError(f"{prefix} is taken by another plane")
        self._by_prefix[key] = MountedPlane(plane, queue)
        self._measure()

    def remove(self, prefix: str) -> None:
        """Unmount a plane and end its watches. It does nothing if there is no plane."""
        mount = self._by_prefix.pop(_key(prefix), None)
        self._measure()
        if mount is not None:
            mount.watches.finish()

    def finish(self) -> None:
        for mount in self._by_prefix.values():
            mount.watches.finish()

    def find(self, segments: Sequence[str]) -> tuple[MountedPlane, int]:
        """The plane that serves a path, and how many of its segments are the prefix."""
        for depth in self._depths:
            mount = self._by_prefix.get(tuple(segments[:depth]))
            if mount is not None:
                return mount, depth
        raise no_such_resource()

    def _measure(self) -> None:
        self._depths = tuple(sorted({len(key) for key in self._by_prefix}, reverse=True))


def _key(prefix: str) -> tuple[str, ...]:
    return tuple(part for part in prefix.split("/") if part)
