"""The entries of ``metadata.managedFields``: manager, operation, subresource and owned fields.

An entry is the plain object of the wire format. Its ``fieldsV1`` is a `FieldSet`, which like every
set is immutable. A manager has one entry for each operation, subresource and version; an apply has
one entry for all versions, so that it finds fields applied in another version.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC
from typing import Any, Final, NamedTuple

from kubekit.api import fields, times
from kubekit.api.fields import FieldError
from kubekit.plane.apply.field_sets import BadFields, FieldSet, read, union

Entry = dict[str, Any]
Operation = str
Identity = tuple[str, str, str, str]

APPLY: Final = "Apply"
UPDATE: Final = "Update"
FIELDS_V1: Final = "FieldsV1"

_MOST_UPDATERS: Final = 10
_ANCIENT: Final = "ancient-changes"
_LONGEST_MANAGER: Final = 128  # bytes
_LONGEST_SUBRESOURCE: Final = 256
_UNKNOWN: Final = "unknown"
_TEXTS: Final = ("manager", "operation", "apiVersion", "fieldsType", "subresource")


class Author(NamedTuple):
    """The manager of a write, its version, time and subresource. The time is in wire format."""

    manager: str
    api_version: str
    time: str
    subresource: str = ""


class BadEntries(ValueError):
    """The managed fields in a request are not a list of entries."""


def manager_of(field_manager: str, user_agent: str) -> str:
    """The name of a manager: the given field manager, or the first part of the user agent."""
    if field_manager:
        return field_manager
    name = "".join(c for c in user_agent.partition("/")[0] if c.isprintable())
    return name.encode()[:_LONGEST_MANAGER].decode(errors="ignore") or _UNKNOWN


def entry_of(author: Author, operation: Operation, owned: FieldSet) -> Entry:
    """The entry of a write."""
    entry: Entry = {
        "manager": author.manager,
        "operation": operation,
        "apiVersion": author.api_version,
        "time": author.time,
        "fieldsType": FIELDS_V1,
        "fieldsV1": owned,
    }
    if author.subresource:
        entry["subresource"] = author.subresource
    return entry


def fields_of(entry: Entry) -> FieldSet:
    """The fields that the entry's manager owns."""
    owned: FieldSet = entry["fieldsV1"]
    return owned


def identity(entry: Entry) -> Identity:
    """The identity of an entry."""
    operation = entry["operation"]
    return (
        entry.get("manager", ""),
        operation,
        "" if operation == APPLY else entry["apiVersion"],
        entry.get("subresource", ""),
    )


def identity_of(author: Author, operation: Operation) -> Identity:
    """The identity of the entry of this author."""
    version = "" if operation == APPLY else author.api_version
    return author.manager, operation, version, author.subresource


def in_order(entries: Iterable[Entry]) -> list[Entry]:
    """The entries in the order of Kubernetes: applies first, and the latest last."""
    return sorted(entries, key=_rank)


def capped(entries: list[Entry]) -> list[Entry]:
    """The entries; if there are too many, the oldest updates of each version are merged."""
    updates = [entry for entry in entries if entry["operation"] == UPDATE]
    surplus = len(updates) - _MOST_UPDATERS
    if surplus <= 0:
        return entries
    updates.sort(key=lambda entry: (entry.get("time", ""), identity(entry)))
    rest = [entry for entry in entries if entry["operation"] != UPDATE]
    first: dict[str, int] = {}
    kept: list[Entry | None] = list(updates)
    for at, entry in enumerate(updates):
        if surplus <= 0:
            break
        before = first.get(entry["apiVersion"])
        if before is not None:
            kept[before] = _bucket(kept[before] or entry, entry)
            kept[at] = None
            surplus -= 1
        else:
            first[entry["apiVersion"]] = at
    return rest + [entry for entry in kept if entry is not None]


def sent(raw: object) -> list[Entry]:
    """The entries that a client sent; `BadEntries` if they cannot be decoded.

    Of entries with one identity the last one counts, and one without fields is dropped.
    """
    if not isinstance(raw, list):
        raise BadEntries("managedFields must be a list")
    entries = {identity(entry): entry for entry in map(_entry, raw)}
    return in_order(entry for entry in entries.values() if entry["fieldsV1"])


def is_reset(raw: object, *, custom: bool) -> bool:
    """Whether a client resets all entries: one empty entry, or for built-in kinds no entry."""
    return raw == [{}] or (raw == [] and not custom)


def errors(entries: Iterable[Entry]) -> list[FieldError]:
    """The errors in the names of entries that a client sent."""
    problems: list[FieldError] = []
    for at, entry in enumerate(entries):
        path = f"metadata.managedFields[{at}]"
        problems += manager_errors(f"{path}.manager", entry.get("manager", ""))
        if len(entry.get("subresource", "").encode()) > _LONGEST_SUBRESOURCE:
            problems.append(_too_long(f"{path}.subresource", _LONGEST_SUBRESOURCE))
    return problems


def manager_errors(path: str, manager: str) -> list[FieldError]:
    """The errors in a manager's name, also for the option ``fieldManager``."""
    problems = []
    if len(manager.encode()) > _LONGEST_MANAGER:
        problems.append(_too_long(path, _LONGEST_MANAGER))
    unprintable = next((at for at, c in enumerate(manager) if not c.isprintable()), None)
    if unprintable is not None:
        character = ord(manager[unprintable])
        message = f"invalid character U+{character:04X} (at position {unprintable})"
        problems.append(fields.invalid(path, manager, message))
    return problems


def stripped(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The document without its managed fields; the same object if it has none."""
    metadata = document.get("metadata")
    if not isinstance(metadata, dict) or "managedFields" not in metadata:
        return document
    rest = {name: value for name, value in metadata.items() if name != "managedFields"}
    return {**document, "metadata": rest}


def _rank(entry: Entry) -> tuple[str, str, str, str, str]:
    return (
        entry["operation"],
        entry.get("time", ""),
        entry.get("manager", ""),
        entry["apiVersion"],
        entry.get("subresource", ""),
    )


def _bucket(one: Entry, later: Entry) -> Entry:
    merged = {
        "manager": _ANCIENT,
        "operation": UPDATE,
        "apiVersion": later["apiVersion"],
        "fieldsType": FIELDS_V1,
        "fieldsV1": union(fields_of(one), fields_of(later)),
    }
    return {**merged, "time": later["time"]} if "time" in later else merged


def _entry(raw: object) -> Entry:
    if not isinstance(raw, dict):
        raise BadEntries("an entry of managedFields must be an object")
    texts = {name: _text(raw, name) for name in _TEXTS}
    if texts["operation"] not in (APPLY, UPDATE):
        raise BadEntries("operation must be `Apply` or `Update`")
    if not texts["apiVersion"]:
        raise BadEntries("apiVersion must not be empty")
    if texts["fieldsType"] != FIELDS_V1:
        raise BadEntries(f"fieldsType must be {FIELDS_V1}")
    try:
        owned = read(raw.get("fieldsV1"))
    except BadFields as error:
        raise BadEntries(str(error)) from error
    entry: Entry = {name: text for name, text in texts.items() if text} | {"fieldsV1": owned}
    if (time := raw.get("time")) is not None:
        entry["time"] = _time(time)
    return entry


def _text(raw: Mapping[str, Any], name: str) -> str:
    text = raw.get(name)
    if text is None:
        return ""
    if not isinstance(text, str):
        raise BadEntries(f"{name} must be a string")
    return text


def _time(raw: object) -> str:
    try:
        moment = times.parse(raw if isinstance(raw, str) else "")
    except times.TimeError as error:
        raise BadEntries("time must be a time such as 2024-05-01T12:00:00Z") from error
    return times.format_time(moment.astimezone(UTC).replace(microsecond=0))


def _too_long(path: str, most: int) -> FieldError:
    return FieldError(path, fields.Problem.TOO_LONG, f"may not be more than {most} bytes")
