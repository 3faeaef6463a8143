"""Documents that are sealed on the disk: AES-256-GCM, each with a nonce of its own.

    sealed document = mark (1 byte), generation (4), nonce (12), ciphertext, tag (16)

A generation is one data key. The database keeps it in the table `sealing`, wrapped by a key from
outside (`keys`), and with it which resources are sealed. A row is bound to its resource, key and
revision: moved to another object or another revision, it does not open.

What is sealed with an old generation, or not at all, is sealed anew with the newest, some rows at a
time (`Log.reseal`); when nothing is left of an old one, its data key is forgotten.
"""

import json
import os
from collections.abc import Iterable, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Final

import apsw
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from kubekit.plane.store import statements
from kubekit.plane.store.errors import UnreadableStore
from kubekit.plane.store.keys import Keys
from kubekit.plane.store.records import LogRow

MARK: Final = b"\x01"  # no JSON begins so
_NONCE: Final = slice(5, 17)
_HEAD: Final = 17
_BITS: Final = 256
_ROWS_AT_ONCE: Final = 2000
_BYTES_AT_ONCE: Final = 256 * 1024
_resource: Final = attrgetter("resource")


class Seals:
    """The data keys of one database. It belongs to the thread of the log."""

    def __init__(
        self, path: Path, connection: apsw.Connection, keys: Keys, sealed: frozenset[str]
    ) -> None:
        self._path = path
        self._connection = connection
        self._keys = keys
        self._sealed = sealed
        self._ciphers: dict[int, AESGCM] = {}
        self._newest = 0
        self._wrapped_by = ""
        self._sealed_by_newest: frozenset[str] = frozenset()
        self._before: frozenset[str] = frozenset()  # what any generation has sealed

    def load(self) -> None:
        """Read the data keys, and see that there is a key to seal with. The file is not touched."""
        if self._connection.execute(statements.HAS_SEALING).get:
            for number, name, wrapped, resources in self._connection.execute(
                statements.GENERATIONS
            ):
                self._take(number, name, self._keys.unwrap(name, wrapped), resources)
        if not self.begun:
            self._keys.begin()
        self._keys.current()

    @property
    def begun(self) -> bool:
        """Whether there is a data key at all."""
        return bool(self._newest)

    def outdated(self) -> bool:
        """Whether there may be rows that the newest generation, as it should be, has not sealed."""
        return len(self._ciphers) != 1 or self._wanting()

    def renew(self) -> int:
        """The newest generation, after another was begun if the last is not as it should be.

        A data key is used only after the disk has it: what it seals could else be lost for good.
        """
        if self._wanting():
            name, key = self._keys.current(), AESGCM.generate_key(_BITS)
            row = (self._newest + 1, name, self._keys.wrap(name, key), _listed(self._sealed))
            with self._connection:
                self._connection.execute(statements.MAKE_SEALING)
                self._connection.execute(statements.BEGIN_GENERATION, row)
            self._take(row[0], name, key, row[3])
        return self._newest

    def reseal(self, after: int) -> int | None:
        """Where to go on, or nothing at the end, after some rows are as the newest has them.

        A piece is bounded in rows and in bytes, so that waiting writes come in between.
        """
        span = (json.dumps(sorted(self._sealed | self._before)), after, _ROWS_AT_ONCE)
        found = list(self._connection.execute(statements.CANDIDATES, span))
        size = 0
        for revision, concerned in found:
            if concerned:
                size += self._reseal(revision)
            if size >= _BYTES_AT_ONCE:
                return int(revision)
        return int(found[-1][0]) if len(found) == _ROWS_AT_ONCE else None

    def retire(self, number: int) -> None:
        """Forget the generations before this one: no row is sealed with them any more."""
        with self._connection:
            self._connection.execute(statements.RETIRE, (number,))
        self._ciphers = {n: cipher for n, cipher in self._ciphers.items() if n >= number}
        self._before = self._sealed

    def sealed(self, rows: Sequence[LogRow]) -> Sequence[LogRow]:
        """The rows as they may go to the disk."""
        if self._sealed.isdisjoint(map(_resource, rows)):
            return rows
        return [self._shut(row) if row.resource in self._sealed else row for row in rows]

    def opened(self, resource: str, key: str, revision: int, document: bytes) -> bytes:
        """What was given for a row, whether it is sealed or not."""
        if document[:1] != MARK:
            return document
        cipher = self._ciphers.get(int.from_bytes(document[1:5]))
        try:
            if cipher is not None:
                bound = _bound(resource, key, revision)
                return cipher.decrypt(document[_NONCE], document[_HEAD:], bound)
        except (InvalidTag, ValueError):
            pass
        raise UnreadableStore(
            f"{self._path}: revision {revision} of {resource} does not open with its key: it was "
            "changed outside of this program; restore a copy"
        )

    def _reseal(self, revision: int) -> int:
        """How many bytes were written, to have a row as the newest generation wants it."""
        row = self._connection.execute(statements.DOCUMENT, (revision,)).get
        resource, key, _, document = row
        wanted = resource in self._sealed
        if (document[:5] == self._head()) if wanted else (document[:1] != MARK):
            return 0
        plain = self.opened(*row)
        changed = self._seal(resource, key, revision, plain) if wanted else plain
        self._connection.execute(statements.RESEAL, (changed, revision))
        return len(changed)

    def _shut(self, row: LogRow) -> LogRow:
        sealed = self._seal(row.resource, row.key, row.revision, row.document)
        return row._replace(document=sealed)

    def _seal(self, resource: str, key: str, revision: int, document: bytes) -> bytes:
        nonce = os.urandom(_NONCE.stop - _NONCE.start)
        bound = _bound(resource, key, revision)
        return self._head() + nonce + self._ciphers[self._newest].encrypt(nonce, document, bound)

    def _head(self) -> bytes:
        return MARK + self._newest.to_bytes(4)

    def _wanting(self) -> bool:
        """Whether the newest generation is of another key, or for other resources, than it should."""
        if not self.begun or self._sealed_by_newest != self._sealed:
            return True
        return self._wrapped_by != self._keys.current()

    def _take(self, number: int, name: str, key: bytes, resources: str) -> None:
        """Know a generation. They are told in their order."""
        self._ciphers[number] = AESGCM(key)
        self._newest, self._wrapped_by = number, name
        self._sealed_by_newest = frozenset(resources.split())
        self._before |= self._sealed_by_newest


def _bound(resource: str, key: str, revision: int) -> bytes:
    """What a sealed document belongs to. Neither part can hold the byte between them."""
    return f"{resource}\0{key}\0{revision}".encode()


def _listed(resources: Iterable[str]) -> str:
    return " ".join(sorted(resources))
