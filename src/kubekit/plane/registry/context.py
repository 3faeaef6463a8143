"""The context that the verbs of one plane share: store, kinds, clock, admission and quota."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol

from kubekit.api import times
from kubekit.api.errors import Timeout, TooLarge, Unavailable
from kubekit.client.transport import Document
from kubekit.environment import ExecutionEnvironment
from kubekit.plane.registry.admission import AdmissionChain
from kubekit.plane.registry.encoding import decode, tail_of
from kubekit.plane.registry.kinds import Kind, Kinds
from kubekit.plane.store.records import ChangeType, Draft, Record
from kubekit.plane.store.store import Store, UnreadableStore, WritesStopped

LARGEST: Final = 3 * 1024 * 1024  # bytes of an object; otherwise patches could grow it indefinitely
_CONFLICT_TIMEOUT: Final = 60.0  # seconds, after which clients have stopped waiting
_SECOND: Final = timedelta(seconds=1)
_NEVER: Final = datetime.max.replace(tzinfo=UTC)


class QuotaGuard(Protocol):
    """Checks the quota of a write. The reservation is released once the write is stored."""

    def reserve(self, draft: Draft) -> Any: ...  # noqa: ANN401 - opaque to the registry

    def release(self, reservation: Any) -> None: ...  # noqa: ANN401 - opaque to the registry


@dataclass(slots=True)
class RegistryContext:
    """One plane's store, kinds, clock and admission. Kinds may be replaced while serving."""

    store: Store
    kinds: Kinds
    environment: ExecutionEnvironment
    admission: AdmissionChain = field(default_factory=AdmissionChain)
    quota_guard: QuotaGuard | None = None

    _stamps_from: datetime = _NEVER
    _stamps_until: datetime = _NEVER
    _stamp: str = ""
    _identity: str = ""

    def stamp(self) -> str:
        """The current time as in metadata. It is cached for its second."""
        now = self.environment.now()
        if not self._stamps_from <= now < self._stamps_until:
            self._stamps_from = now.replace(microsecond=0)
            self._stamps_until = self._stamps_from + _SECOND
            self._stamp = times.format_time(self._stamps_from)
        return self._stamp

    @property
    def identity(self) -> str:
        """The identity of the plane: the uid of its kube-system namespace."""
        if not self._identity:
            record = self.store.find("/namespaces", "kube-system")
            if record is not None:
                self._identity = decode(record.data)["metadata"]["uid"]
        return self._identity

    def draft(  # noqa: PLR0913 -- the parts of a change
        self,
        kind: Kind,
        key: str,
        previous: int,
        change: ChangeType,
        document: Document,
        *,
        keeps_links: bool = False,
    ) -> Draft:
        """The change that stores this document, which is in the kind's own version."""
        head = kind.head
        if kind.conversion is not None:
            document = kind.conversion.to_storage(document)
            head = self.kinds.stored_as(kind.storage).head
        tail = tail_of(document)
        if len(tail) > LARGEST and change is not ChangeType.DELETED:
            raise TooLarge(
                f"{kind.resource.plural} {key} would have {len(tail)} bytes; at most {LARGEST} are allowed"
            )
        return Draft(kind.storage, key, previous, change, head, tail, keeps_links)

    async def commit(self, draft: Draft) -> Record:
        """Write the draft; returns the stored record. The caller handles `RevisionConflict`."""
        guard = self.quota_guard
        reservation = None if guard is None else guard.reserve(draft)
        try:
            return await self.store.write(draft)
        except WritesStopped as stopped:
            raise Unavailable(str(stopped)) from stopped
        finally:
            if guard is not None:
                guard.release(reservation)


class ConflictDeadline:
    """The time limit for retries of a change after write conflicts.

    Without admission plugins retries are quick, and the loop ends by itself. With a slow plugin, or
    one that changes the object itself, it might never end.
    """

    __slots__ = ("_until",)

    def __init__(self) -> None:
        self._until = 0.0

    def conflict(self, kind: Kind, key: str) -> None:
        """Record another conflict. Raises `Timeout` once the time limit has passed."""
        now = asyncio.get_running_loop().time()
        if not self._until:
            self._until = now + _CONFLICT_TIMEOUT
        elif now > self._until:
            raise Timeout(
                f"{kind.resource.plural} {key} was not changed within {_CONFLICT_TIMEOUT:g} s, because "
                "other clients keep changing it; try again later"
            )


@contextmanager
def history_errors() -> Iterator[None]:
    """Report unreadable history, or history of a closing store, as `Unavailable`."""
    try:
        yield
    except (UnreadableStore, WritesStopped) as refusal:
        raise Unavailable(str(refusal)) from refusal
