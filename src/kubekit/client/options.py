"""What a request asks for besides its object, in the words of the wire.

Versions and selectors stay text here: what a version means is the server's business, and both
doors must give the same answer to the same text.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

FieldValidation = Literal["", "Ignore", "Warn", "Strict"]
Propagation = Literal["", "Orphan", "Background", "Foreground"]
VersionMatch = Literal["", "Exact", "NotOlderThan"]


class PatchType(StrEnum):
    """How a patch is written. The value is its media type."""

    JSON = "application/json-patch+json"
    MERGE = "application/merge-patch+json"
    STRATEGIC = "application/strategic-merge-patch+json"
    APPLY = "application/apply-patch+yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOptions:
    """Which objects, how many at once, and how fresh. A limit of 0 means all."""

    label_selector: str = ""
    field_selector: str = ""
    limit: int = 0
    continue_: str = ""
    resource_version: str = ""
    resource_version_match: VersionMatch = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchOptions:
    """Which changes, from where on. No timeout means the server's own."""

    label_selector: str = ""
    field_selector: str = ""
    resource_version: str = ""
    resource_version_match: VersionMatch = ""
    allow_bookmarks: bool = False
    send_initial_events: bool | None = None
    timeout_seconds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOptions:
    """How a create, update or patch is carried out. Not saying how to validate means ``Warn``.

    ``force`` is for an apply, which then takes what belongs to others.
    """

    dry_run: bool = False
    force: bool = False
    field_manager: str = ""
    field_validation: FieldValidation = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteOptions:
    """What must hold for a delete to happen, and what becomes of the dependents."""

    uid: str = ""
    resource_version: str = ""
    propagation: Propagation = ""
    grace_period_seconds: int | None = None
    dry_run: bool = False


EVERYTHING = ListOptions()
PLAIN_WATCH = WatchOptions()
PLAIN_WRITE = WriteOptions()
PLAIN_DELETE = DeleteOptions()
