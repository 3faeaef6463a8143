"""How much history a store keeps, on disk and in memory, and what it seals."""

from dataclasses import dataclass
from datetime import timedelta

from kubekit.plane.store.keys import Keys

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """A change is compacted once it is older than ``window`` or further back than
    ``window_revisions``. The ring is the part that watchers read from memory, per resource;
    ``ring_bytes`` bounds everything that its changes keep alive: each document, its line for
    watchers, and the document before.

    The write-ahead log is folded into the main file whenever it passes ``wal_bytes``; while that
    fails it may grow up to ``wal_limit``, and then writes stop.

    The documents of the resources in ``sealed`` are on disk only in encrypted form. Without
    ``keys``, the keys are in a file beside the database.
    """

    window: timedelta = timedelta(minutes=10)
    window_revisions: int = 100_000
    ring_events: int = 32_768
    ring_bytes: int = 16 * MEBIBYTE
    wal_bytes: int = 8 * MEBIBYTE
    wal_limit: int = 64 * MEBIBYTE
    sealed: frozenset[str] = frozenset({"/secrets"})
    keys: Keys | None = None
