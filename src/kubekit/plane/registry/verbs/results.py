"""The results of the verbs. Records contain the exact bytes that are served."""

import msgspec

from kubekit.plane.store.records import Record


class WriteResult(msgspec.Struct, frozen=True):
    """An object after a create, update or patch."""

    record: Record
    created: bool = False
    warnings: tuple[str, ...] = ()


class DeleteResult(msgspec.Struct, frozen=True):
    """An object after a delete. ``gone`` means that the response is a Status with its name.

    Otherwise the response is the object: a finalizer holds it, or its kind is always returned.
    """

    record: Record
    gone: bool


class Page(msgspec.Struct, frozen=True):
    """A page of a collection. ``remaining`` is how many objects follow; None if not counted."""

    records: list[Record]
    revision: int
    continue_: str = ""
    remaining: int | None = None
