"""The changes that an informer passes to its handlers."""

from typing import Generic, TypeVar

from kubekit.api.meta import Object
from kubekit.runtime.requests import ClusterName
from kubekit.runtime.watching.cache import read

K = TypeVar("K", bound=Object)


class CacheChange(Generic[K]):
    """A change of one object. Without ``old`` it is new to the handler, without ``new`` it is gone.

    Both are decoded at the first access: most handlers need no more than the name.
    """

    __slots__ = ("_kind", "_new", "_old", "cluster", "name", "namespace")

    def __init__(  # noqa: PLR0913 -- the object, and its two states
        self,
        cluster: ClusterName,
        namespace: str,
        name: str,
        kind: type[K],
        *,
        old: K | bytes | None = None,
        new: K | bytes | None = None,
    ) -> None:
        self.cluster = cluster
        self.namespace = namespace
        self.name = name
        self._kind = kind
        self._old = old
        self._new = new

    def __repr__(self) -> str:
        change = "added" if self.added else "removed" if self.removed else "modified"
        return f"<{change} {self.cluster}/{self.namespace}/{self.name}>"

    @property
    def old(self) -> K | None:
        if isinstance(self._old, bytes):
            self._old = read(self._kind, self._old)
        return self._old

    @property
    def new(self) -> K | None:
        if isinstance(self._new, bytes):
            self._new = read(self._kind, self._new)
        return self._new

    @property
    def added(self) -> bool:
        """Whether there is no old object. Nothing is decoded for it."""
        return self._old is None

    @property
    def removed(self) -> bool:
        """Whether there is no new object. Nothing is decoded for it."""
        return self._new is None
