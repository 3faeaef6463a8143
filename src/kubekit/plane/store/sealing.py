"""Encryption at rest: documents are sealed (encrypted) with AES-256-GCM, each with its own nonce.

    sealed document = mark (1 byte), generation (4), nonce (12), ciphertext, tag (16)

A generation is one data key. The database keeps it in the table `sealing`, wrapped by an external
key (`keys`), together with the resources that it seals. A row is bound to its resource, key and
revision: it cannot be decrypted as the row of another object or revision.

Rows of an old generation, and plain rows, are resealed with the newest one, some rows at a time
(`Log.reseal`). Once no row uses an old generation, its data key is removed.
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

MARK: Final = b"\x01"  # no JSON document starts with it
_NONCE: Final = slice(5, 17)
_HEAD: Final = 17
_BITS: Final = 256
_ROWS_AT_ONCE: Final = 2000
_BYTES_AT_ONCE: Final = 256 * 1024
_resource: Final = attrgetter("resource")


class Seals:
    """The data keys of one database. Used only in the thread of the log."""

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
        self._ever_sealed: frozenset[str] = frozenset()  # resources that any generation has sealed

    def load(self) -> None:
        """Read the data keys, and check that there is a key to seal with. Nothing is written."""
        if self._connection.execute(statements.HAS_SEALING).get:
            for number, name, wrapped, resources in self._connection.execute(
                statements.GENERATIONS
            ):
                self._add_generation(number, name, self._keys.unwrap(name, wrapped), resources)
        if not self.has_data_key:
            self._keys.create_first()
        self._keys.current()

    @property
    def has_data_key(self) -> bool:
        """Whether there is a data key at all."""
        return bool(self._newest)

    def outdated(self) -> bool:
        """Whether some rows may not be sealed with the newest generation and as configured."""
        return len(self._ciphers) != 1 or self._needs_generation()

    def renew(self) -> int:
        """The newest generation; a new one if the last is not as configured.

        A data key is used only once it is on disk: otherwise a crash could lose what it sealed.
        """
        if self._needs_generation():
            name, key = self._keys.current(), AESGCM.generate_key(_BITS)
            row = (self._newest + 1, name, self._keys.wrap(name, key), _listed(self._sealed))
            with self._connection:
                self._connection.execute(statements.MAKE_SEALING)
                self._connection.execute(statements.ADD_GENERATION, row)
            self._add_generation(row[0], name, key, row[3])
        return self._newest

    def reseal(self, after: int) -> int | None:
        """Reseal some rows; the position to continue from, or None at the end.

        A piece is bounded in rows and in bytes, so that waiting writes run in between.
        """
        span = (json.dumps(sorted(self._sealed | self._ever_sealed)), after, _ROWS_AT_ONCE)
        candidates = list(self._connection.execute(statements.CANDIDATES, span))
        size = 0
        for revision, relevant in candidates:
            if relevant:
                size += self._reseal(revision)
            if size >= _BYTES_AT_ONCE:
                return int(revision)
        return int(candidates[-1][0]) if len(candidates) == _ROWS_AT_ONCE else None

    def retire(self, number: int) -> None:
        """Remove the generations before this one: no row uses them any more."""
        with self._connection:
            self._connection.execute(statements.RETIRE, (number,))
        self._ciphers = {n: cipher for n, cipher in self._ciphers.items() if n >= number}
        self._ever_sealed = self._sealed

    def sealed(self, rows: Sequence[LogRow]) -> Sequence[LogRow]:
        """The rows as they are written to disk."""
        if self._sealed.isdisjoint(map(_resource, rows)):
            return rows
        return [self._sealed_row(row) if row.resource in self._sealed else row for row in rows]

    def opened(self, resource: str, key: str, revision: int, document: bytes) -> bytes:
        """The plain document of a row, whether it is sealed or not."""
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
        """Reseal a row with the newest generation; the number of bytes written."""
        row = self._connection.execute(statements.DOCUMENT, (revision,)).get
        resource, key, _, document = row
        wanted = resource in self._sealed
        if (document[:5] == self._head()) if wanted else (document[:1] != MARK):
            return 0
        plain = self.opened(*row)
        changed = self._seal(resource, key, revision, plain) if wanted else plain
        self._connection.execute(statements.RESEAL, (changed, revision))
        return len(changed)

    def _sealed_row(self, row: LogRow) -> LogRow:
        sealed = self._seal(row.resource, row.key, row.revision, row.document)
        return row._replace(document=sealed)

    def _seal(self, resource: str, key: str, revision: int, document: bytes) -> bytes:
        nonce = os.urandom(_NONCE.stop - _NONCE.start)
        bound = _bound(resource, key, revision)
        return self._head() + nonce + self._ciphers[self._newest].encrypt(nonce, document, bound)

    def _head(self) -> bytes:
        return MARK + self._newest.to_bytes(4)

    def _needs_generation(self) -> bool:
        """Whether the newest generation has another key or other resources than configured."""
        if not self.has_data_key or self._sealed_by_newest != self._sealed:
            return True
        return self._wrapped_by != self._keys.current()

    def _add_generation(self, number: int, name: str, key: bytes, resources: str) -> None:
        """Add a generation. Called in the order of the generations."""
        self._ciphers[number] = AESGCM(key)
        self._newest, self._wrapped_by = number, name
        self._sealed_by_newest = frozenset(resources.split())
        self._ever_sealed |= self._sealed_by_newest


def _bound(resource: str, key: str, revision: int) -> bytes:
    """The associated data of a sealed document. No part contains the separator byte."""
    return f"{resource}\0{key}\0{revision}".encode()


def _listed(resources: Iterable[str]) -> str:
    return " ".join(sorted(resources))
