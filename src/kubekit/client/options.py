"""The options of requests, as the API defines them.

Versions and selectors stay text here: a version is opaque to clients, and all transports must answer
the same text alike.
"""

from enum import StrEnum
from typing import Literal

import msgspec

FieldValidation = Literal["", "Ignore", "Warn", "Strict"]
Propagation = Literal["", "Orphan", "Background", "Foreground"]
VersionMatch = Literal["", "Exact", "NotOlderThan"]


class PatchType(StrEnum):
    """The format of a patch. The value is its media type."""

    JSON = "application/json-patch+json"
    MERGE = "application/merge-patch+json"
    STRATEGIC = "application/strategic-merge-patch+json"
    APPLY = "application/apply-patch+yaml"


class ListOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Which objects, how many at once, and how fresh. A limit of 0 means all."""

    label_selector: str = ""
    field_selector: str = ""
    limit: int = 0
    continue_: str = ""
    resource_version: str = ""
    resource_version_match: VersionMatch = ""


class WatchOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Which changes, and from which version on. No timeout means that of the server."""

    label_selector: str = ""
    field_selector: str = ""
    resource_version: str = ""
    resource_version_match: VersionMatch = ""
    allow_bookmarks: bool = False
    send_initial_events: bool | None = None
    timeout_seconds: int | None = None


class WriteOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a create, update or patch is done. An empty ``field_validation`` means ``Warn``.

    ``force`` lets an apply take fields from other managers.
    """

    dry_run: bool = False
    force: bool = False
    field_manager: str = ""
    field_validation: FieldValidation = ""


class DeleteOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The preconditions of a delete, and what happens to the dependents."""

    uid: str = ""
    resource_version: str = ""
    propagation: Propagation = ""
    grace_period_seconds: int | None = None
    dry_run: bool = False


EVERYTHING = ListOptions()
PLAIN_WATCH = WatchOptions()
PLAIN_WRITE = WriteOptions()
PLAIN_DELETE = DeleteOptions()
