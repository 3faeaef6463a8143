"""What the registry answers with. Records carry the very bytes that go over the wire."""

import msgspec

from kubekit.plane.store.records import Record


class WriteResult(msgspec.Struct, frozen=True):
    """An object as it stands after a create, update or patch."""

    record: Record
    created: bool = False
    warnings: tuple[str, ...] = ()


class DeleteResult(msgspec.Struct, frozen=True):
    """An object after a delete: ``gone``, so that only its name is told, or to be shown.

    Shown is what a finalizer still holds, and also what is gone of a few kinds.
    """

    record: Record
    gone: bool


class Page(msgspec.Struct, frozen=True):
    """A part of a collection. ``remaining`` is how many follow, None where nobody counted."""

    records: list[Record]
    revision: int
    continue_: str = ""
    remaining: int | None = None
