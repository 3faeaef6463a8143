"""What differs between two views of an object, as a merge patch.

A list in a document is one value to a merge patch, so a list that differs is sent whole.

Most of a desired object is the existing one's own: what is the very same value is passed over, and
only what is not is made a document and compared. So a change costs what it says, not what it is of.
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
    """The merge patch that makes one the other, in one part; empty when they do not differ there.

    With ``part="status"`` the status alone, else everything but the status: a server takes them
    by different paths.
    """
    patch: Document = {}
    for member in _members(type(desired)):
        if (member.wire == _STATUS) == bool(part):
            _compare(existing, desired, member, patch)
    if part and patch and _says_nothing(existing):
        # The view shows counters at zero where the server may have no status at all; what is equal
        # must be sent too then, for the schema requires it.
        status = getattr(desired, _STATUS)
        return {} if status is None else {_STATUS: _plain(status)}
    return patch


class _Member(NamedTuple):
    """A field of a class. What is ``default``, or is empty and of the type ``empty``, is not written."""

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
    """Note in the patch what one member needs to become what is desired."""
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
    was, will = _document(before, member), _document(after, member)
    if will is _ABSENT:
        if was is not _ABSENT:
            patch[member.wire] = None
    elif was is _ABSENT or was != will:
        patch[member.wire] = _merged(was, will)


def _document(value: Any, member: _Member) -> object:  # noqa: ANN401 -- whatever a class holds
    """The value as its encoder writes it, or nothing at all."""
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


def _says_nothing(obj: Object) -> bool:
    """Whether the status is what a class makes of an absent one."""
    status = getattr(obj, _STATUS, None)
    return status is not None and status == type(status)()
