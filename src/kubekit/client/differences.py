"""The difference between two views of an object, as a merge patch.

A list in a document is one value to a merge patch, so a list that differs is sent whole.

A desired object usually shares most values with the existing one. Identical values are skipped, and
only the others are encoded and compared. So the cost depends on the change, not on the object.
"""

from functools import cache
from typing import Any, Final, Literal, NamedTuple, TypeVar

import msgspec

from kubekit.api.meta import Object
from kubekit.client.transport import Document

K = TypeVar("K", bound=Object)
Part = Literal["", "status"]

_STATUS: Final = "status"
_ABSENT: Final = object()


def difference(existing: K, desired: K, *, part: Part = "") -> Document:
    """The merge patch from one view to the other, for one part; empty if that part is the same.

    The parts are the status and everything else: a server has a path for each.
    """
    patch: Document = {}
    for member in _members(type(desired)):
        if (member.wire == _STATUS) == bool(part):
            _compare(existing, desired, member, patch)
    if part and patch and _has_empty_status(existing):
        # The view has counters of zero where the server may have no status at all. The schema requires
        # them, so equal values must be sent too.
        status = getattr(desired, _STATUS)
        return {} if status is None else {_STATUS: _plain(status)}
    return patch


class _Member(NamedTuple):
    """A field of a class. A value that is ``default``, or an empty dict if ``empty`` is dict, is not written."""

    name: str
    wire: str
    default: object
    empty: object


@cache
def _members(kind: type[msgspec.Struct]) -> tuple[_Member, ...]:
    return tuple(
        _Member(field.name, field.encode_name, field.default, field.default_factory)
        for field in msgspec.structs.fields(kind)
    )


def _compare(
    existing: msgspec.Struct, desired: msgspec.Struct, member: _Member, patch: Document
) -> None:
    """Add to the patch what one member needs to become the desired one."""
    before, after = getattr(existing, member.name), getattr(desired, member.name)
    if before is after:
        return
    if isinstance(after, msgspec.Struct) and type(before) is type(after):
        inner: Document = {}
        for below in _members(type(after)):
            _compare(before, after, below, inner)
        if inner:
            patch[member.wire] = inner
        return
    old, new = _document(before, member), _document(after, member)
    if new is _ABSENT:
        if old is not _ABSENT:
            patch[member.wire] = None
    elif old is _ABSENT or old != new:
        patch[member.wire] = _merged(old, new)


def _document(value: Any, member: _Member) -> object:  # noqa: ANN401 -- whatever a class holds
    """The value as its encoder writes it, or `_ABSENT`."""
    if value is member.default or (member.empty is dict and value == {}):
        return _ABSENT
    return _plain(value)


def _plain(value: object) -> Any:  # noqa: ANN401 -- whatever JSON holds
    return msgspec.to_builtins(value, str_keys=True)


def _merged(existing: object, desired: object) -> object:
    if not (isinstance(existing, dict) and isinstance(desired, dict)):
        return desired
    removed: Document = {name: None for name in existing if name not in desired}
    changed = {
        name: _merged(existing.get(name), value)
        for name, value in desired.items()
        if name not in existing or existing[name] != value
    }
    return removed | changed


def _has_empty_status(obj: Object) -> bool:
    """Whether the status is the default that the class has for an absent one."""
    status = getattr(obj, _STATUS, None)
    return status is not None and status == type(status)()
