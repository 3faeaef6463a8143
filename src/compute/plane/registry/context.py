"""What the verbs of one plane share: where things are kept, what kinds there are, who may refuse."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from compute.api import times
from compute.api.errors import TooLarge, Unavailable
from compute.client.transport import Document
from compute.plane.environment import Environment
from compute.plane.registry.encoding import tail_of
from compute.plane.registry.kinds import Kind, Kinds
from compute.plane.store.records import ChangeType, Draft, Record
from compute.plane.store.store import Store, Unreadable, WritesStopped

LARGEST: Final = 3 * 1024 * 1024  # bytes of an object, which many patches could make grow for ever


@dataclass(frozen=True, slots=True)
class Attempt:
    """A change that is about to be made. ``document`` is what will be, ``old`` what was."""

    verb: Literal["create", "update", "delete"]
    kind: Kind
    key: str
    subresource: str = ""
    document: Document | None = None
    old: Document | None = None


Admit = Callable[[Attempt], None]
"""Somebody with a say: raises an `ApiError` to refuse, may complete the document in place."""


@dataclass(slots=True)
class Context:
    """One plane's store, kinds, clock and admission. Kinds may be replaced while serving."""

    store: Store
    kinds: Kinds
    environment: Environment
    admission: list[Admit] = field(default_factory=list)

    _second: datetime | None = None
    _stamp: str = ""

    def stamp(self) -> str:
        """The present as metadata spells it. Many objects are made in the same second."""
        second = self.environment.now().replace(microsecond=0)
        if second != self._second:
            self._second, self._stamp = second, times.format_time(second)
        return self._stamp

    def admit(self, attempt: Attempt) -> None:
        for admit in self.admission:
            admit(attempt)

    def draft(
        self, kind: Kind, key: str, previous: int, change: ChangeType, document: Document
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
        return Draft(kind.storage, key, previous, change, head, tail)

    async def commit(self, draft: Draft) -> Record:
        """The stored record. `Moved` is the caller's business: only he can decide anew."""
        try:
            return await self.store.write(draft)
        except WritesStopped as stopped:
            raise Unavailable(str(stopped)) from stopped


@contextmanager
def reading_the_past() -> Iterator[None]:
    """What cannot be read, or not any more because the store is closing, is told as such."""
    try:
        yield
    except (Unreadable, WritesStopped) as refusal:
        raise Unavailable(str(refusal)) from refusal
