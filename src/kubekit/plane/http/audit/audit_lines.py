"""A request as one line of the audit log: an Event of ``audit.k8s.io/v1``, at level Metadata.

The format is Kubernetes' own, so its tools can read the lines. Values that it has no field for are
annotations. A line has no body, no query and no header but the user agent, so it has no secrets.

A line is ASCII, whatever the names of users and objects are, and has a bounded length.
"""

import json
from datetime import datetime
from typing import Final

import msgspec

from kubekit.plane.access.attributes import Attributes
from kubekit.plane.users import User

LONGEST: Final = 8192  # bytes of a line
LONGEST_AGENT: Final = 256  # characters
_DELETE: Final = b"\x7f"
# The characters of a text and members of a list that are kept when a line is too long.
_CUTS: Final = ((256, 16), (64, 4), (16, 1))
_OURS: Final = "audit.compute.datumapis.com/"


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One recorded request. ``at`` is the time of the response, which took so many ``seconds``.

    ``user`` is the effective user; ``original`` is the authenticated one, if it impersonates.
    ``plane`` is the prefix of the plane, ``path`` what follows it, without the query.
    """

    id: str
    at: datetime
    seconds: float
    attributes: Attributes
    path: str
    code: int
    allowed: bool
    user: User
    reason: str = ""
    original: User | None = None
    how: str = ""
    source: str = ""
    agent: str = ""
    plane: str = "/"
    dry_run: bool = False


class _UserInfo(msgspec.Struct, rename="camel", omit_defaults=True, gc=False):
    username: str
    uid: str = ""
    groups: tuple[str, ...] = ()


class _Object(msgspec.Struct, rename="camel", omit_defaults=True, gc=False):
    resource: str
    namespace: str = ""
    name: str = ""
    api_group: str = ""
    api_version: str = ""
    subresource: str = ""


class _Status(msgspec.Struct, gc=False):
    code: int


class _Annotations(
    msgspec.Struct,
    omit_defaults=True,
    gc=False,
    rename={
        "decision": "authorization.k8s.io/decision",
        "reason": "authorization.k8s.io/reason",
        "how": f"{_OURS}authenticated-by",
        "plane": f"{_OURS}plane",
        "seconds": f"{_OURS}seconds",
        "dry_run": f"{_OURS}dry-run",
    },
):
    decision: str
    seconds: str
    plane: str
    how: str = ""
    reason: str = ""
    dry_run: str = ""


class _Event(msgspec.Struct, omit_defaults=True, gc=False):
    kind: str
    apiVersion: str  # noqa: N815 - as on the wire
    level: str
    auditID: str  # noqa: N815 - as on the wire
    stage: str
    requestURI: str  # noqa: N815 - as on the wire
    verb: str
    user: _UserInfo
    responseStatus: _Status  # noqa: N815 - as on the wire
    stageTimestamp: datetime  # noqa: N815 - as on the wire
    annotations: _Annotations
    impersonatedUser: _UserInfo | None = None  # noqa: N815 - as on the wire
    sourceIPs: tuple[str, ...] = ()  # noqa: N815 - as on the wire
    userAgent: str = ""  # noqa: N815 - as on the wire
    objectRef: _Object | None = None  # noqa: N815 - as on the wire


_encode: Final = msgspec.json.Encoder().encode


def line(entry: AuditEntry) -> bytes:
    """The entry as a line, without the line end."""
    event = _event(entry)
    try:
        text = _encode(event)
    except UnicodeEncodeError:  # half of a surrogate pair
        return _plain(event)
    if text.isascii() and _DELETE not in text and len(text) <= LONGEST:
        return text
    return _plain(event)


def shortened(text: str, most: int) -> str:
    """The text, or its start and its length."""
    return text if len(text) <= most else f"{text[:most]}... ({len(text)} characters)"


def _event(entry: AuditEntry) -> _Event:
    wanted, asked = entry.attributes, entry.original or entry.user
    return _Event(
        "Event",
        "audit.k8s.io/v1",
        "Metadata",
        entry.id,
        "ResponseComplete",
        entry.path if entry.plane == "/" else entry.plane + entry.path,
        wanted.verb,
        _user_info(asked),
        _Status(entry.code),
        entry.at,
        _Annotations(
            "allow" if entry.allowed else "forbid",
            f"{entry.seconds:.6f}",
            entry.plane,
            entry.how,
            entry.reason,
            "true" if entry.dry_run else "",
        ),
        None if entry.original is None else _user_info(entry.user),
        (entry.source,) if entry.source else (),
        entry.agent[:LONGEST_AGENT],
        _object(wanted) if wanted.resource else None,
    )


def _user_info(user: User) -> _UserInfo:
    return _UserInfo(user.name, user.uid, user.groups)


def _object(wanted: Attributes) -> _Object:
    return _Object(
        wanted.resource,
        wanted.namespace,
        wanted.name,
        wanted.group,
        wanted.version,
        wanted.subresource,
    )


def _plain(event: _Event) -> bytes:
    """The event with everything escaped that is not ASCII, and cut until it is short enough."""
    document = msgspec.to_builtins(event)
    text = _escaped(document)
    for characters, members in _CUTS:
        if len(text) <= LONGEST:
            break
        text = _escaped(_cut(document, characters, members))
    return text


def _escaped(document: object) -> bytes:
    text = json.dumps(document, separators=(",", ":"))
    return text.encode("ascii").replace(_DELETE, b"\\u007f")


def _cut(value: object, characters: int, members: int) -> object:
    match value:
        case str():
            return shortened(value, characters)
        case list() | tuple():
            kept = [_cut(member, characters, members) for member in value[:members]]
            more = len(value) - members
            return [*kept, f"... ({more} more)"] if more > 0 else kept
        case dict():
            return {key: _cut(member, characters, members) for key, member in value.items()}
        case _:
            return value
