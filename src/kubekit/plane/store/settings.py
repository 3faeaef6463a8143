"""How much history a store keeps, on disk and in memory, and what it seals."""

from dataclasses import dataclass
from datetime import timedelta

from kubekit.plane.store.keys import Keys

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """The limits of the history, and the resources whose documents are encrypted.

    A change is compacted once it is older than ``window`` or further back than
    ``window_revisions``. The ring is the history that watchers read from memory, per resource.
    ``ring_bytes`` limits all bytes that its changes use: each document, its line for watchers, and
    the previous document.

    The write-ahead log is checkpointed into the main file when it is longer than ``wal_bytes``. If
    that fails, it may grow up to ``wal_limit``; then writes stop.

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
