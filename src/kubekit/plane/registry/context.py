"""What the verbs of one plane share: where things are kept, what kinds there are, who may refuse."""

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

LARGEST: Final = 3 * 1024 * 1024  # bytes of an object, which many patches could make grow for ever
_LONGEST_RACE: Final = 60.0  # seconds, after which nobody waits for the answer any more
_SECOND: Final = timedelta(seconds=1)
_NEVER: Final = datetime.max.replace(tzinfo=UTC)


class QuotaGuard(Protocol):
    """Whether there is room for a change. What is taken is given back once it is stored."""

    def take(self, draft: Draft) -> Any: ...  # noqa: ANN401 - its own business

    def give_back(self, held: Any) -> None: ...  # noqa: ANN401 - its own business


@dataclass(slots=True)
class RegistryContext:
    """One plane's store, kinds, clock and admission. Kinds may be replaced while serving."""

    store: Store
    kinds: Kinds
    environment: ExecutionEnvironment
    admission: AdmissionChain = field(default_factory=AdmissionChain)
    room: QuotaGuard | None = None

    _stamps_from: datetime = _NEVER
    _stamps_until: datetime = _NEVER
    _stamp: str = ""
    _identity: str = ""

    def stamp(self) -> str:
        """The present as metadata spells it. Many objects are made in the same second."""
        now = self.environment.now()
        if not self._stamps_from <= now < self._stamps_until:
            self._stamps_from = now.replace(microsecond=0)
            self._stamps_until = self._stamps_from + _SECOND
            self._stamp = times.format_time(self._stamps_from)
        return self._stamp

    @property
    def identity(self) -> str:
        """What tells the plane from others, for as long as it lives."""
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
        keeps_ties: bool = False,
    ) -> Draft:
        """The change that makes this document, in the kind's own version, the object's state."""
        head = kind.head
        if kind.conversion is not None:
            document = kind.conversion.to_storage(document)
            head = self.kinds.stored_as(kind.storage).head
        tail = tail_of(document)
        if len(tail) > LARGEST and change is not ChangeType.DELETED:
            raise TooLarge(
                f"{kind.resource.plural} {key} would have {len(tail)} bytes; at most {LARGEST} are kept"
            )
        return Draft(kind.storage, key, previous, change, head, tail, keeps_ties)

    async def commit(self, draft: Draft) -> Record:
        """The stored record. `Moved` is the caller's business: only he can decide anew."""
        room = self.room
        held = None if room is None else room.take(draft)
        try:
            return await self.store.write(draft)
        except WritesStopped as stopped:
            raise Unavailable(str(stopped)) from stopped
        finally:
            if room is not None:
                room.give_back(held)


class ConflictDeadline:
    """How long a change is worked out anew because others were quicker.

    It ends by itself where each way round is short. Where somebody who is asked takes his time, or
    changes the object himself, it might never.
    """

    __slots__ = ("_until",)

    def __init__(self) -> None:
        self._until = 0.0

    def lost(self, kind: Kind, key: str) -> None:
        """Tell that another change came first once more. Raises `Timeout` when it is enough."""
        now = asyncio.get_running_loop().time()
        if not self._until:
            self._until = now + _LONGEST_RACE
        elif now > self._until:
            raise Timeout(
                f"{kind.resource.plural} {key} was not changed within {_LONGEST_RACE:g} s: others "
                "change it all the time"
            )


@contextmanager
def history_errors() -> Iterator[None]:
    """What cannot be read, or not any more because the store is closing, is told as such."""
    try:
        yield
    except (UnreadableStore, WritesStopped) as refusal:
        raise Unavailable(str(refusal)) from refusal
