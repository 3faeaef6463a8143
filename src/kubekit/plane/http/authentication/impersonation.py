"""Impersonation: headers that name another user, and the permission to act as that user.

    Impersonate-User          once
    Impersonate-Group         any number of times
    Impersonate-Uid           at most once
    Impersonate-Extra-<key>   any number of times; the key is percent-encoded, and lower case

Each of them must be permitted, by the verb ``impersonate``. A header of this family that is unknown,
or that a proxy may have been asked to drop, is refused: the client wants fewer permissions than its
own, and must not get its own instead.
"""

from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote_to_bytes

from kubekit.api.errors import BadRequest
from kubekit.plane.access.attributes import Attributes
from kubekit.plane.http.http_errors import unauthorized
from kubekit.plane.http.interfaces import AccessCheck, PlaneBackend
from kubekit.plane.http.messages import ServerRequest
from kubekit.plane.identity.account_names import AccountName, account_name
from kubekit.plane.identity.identities import UNAUTHENTICATED, Identity, authenticated
from kubekit.plane.users import ANONYMOUS, User

_FAMILY: Final = "impersonate"  # some proxies take an underscore for the hyphen
_LINE_PREFIX: Final = f"\n{_FAMILY}"
_USER: Final = "impersonate-user"
_GROUP: Final = "impersonate-group"
_UID: Final = "impersonate-uid"
_EXTRA: Final = "impersonate-extra-"
_GROUP_OF_EXTRAS: Final = "authentication.k8s.io"


def in_plane(
    identity: Identity, request: ServerRequest, plane: PlaneBackend, access: AccessCheck
) -> Identity:
    """The effective identity in this plane: the client's own, or the one that it may impersonate."""
    if not identity.is_known_in(plane.registry):
        raise unauthorized()
    if not asked_for(request):
        return identity
    wanted = _wanted(request)
    for attributes in _needed(wanted):
        access.check(plane, identity.user, attributes)
    return Identity(_whole(wanted), identity.how, identity.user, identity.registry)


def asked_for(request: ServerRequest) -> bool:
    """Whether the request has such a header."""
    headers = request.headers
    return _LINE_PREFIX in "\n".join(("", *headers)) or (
        "connection" in headers and _FAMILY in headers["connection"].lower()
    )


def _wanted(request: ServerRequest) -> User:
    """The user that the headers name."""
    if _FAMILY in request.headers.get("connection", "").lower():
        raise BadRequest("header Connection must not name the headers of impersonation")
    names = [name for name in request.headers if name.startswith(_FAMILY)]
    for name in names:
        if name not in (_USER, _GROUP, _UID) and not name.startswith(_EXTRA):
            raise BadRequest(f"header {name} is not understood")
    if _USER not in names:
        raise BadRequest(f"header {names[0]} without {_USER}")
    groups = tuple(_values(request, _GROUP))
    return User(_only(request, _USER), groups, _only(request, _UID), _extra(request, names))


def _extra(request: ServerRequest, names: list[str]) -> dict[str, tuple[str, ...]]:
    """The extra attributes of the user. Two spellings of a key are one key."""
    extra: dict[str, tuple[str, ...]] = {}
    for name in names:
        if name.startswith(_EXTRA):
            key = _key(name)
            extra[key] = (*extra.get(key, ()), *_values(request, name))
    return extra


def _key(name: str) -> str:
    escaped = name.removeprefix(_EXTRA)
    try:
        key = unquote_to_bytes(escaped).decode()
    except UnicodeDecodeError as problem:
        raise BadRequest(f"header {name}: its key is not UTF-8") from problem
    whole = "%" not in escaped or _is_escaped(escaped)
    if not key or not whole or not key.isprintable():
        raise BadRequest(f"header {name}: its key is empty or not percent-encoded")
    return key


def _is_escaped(text: str) -> bool:
    """Whether each percent sign starts an escape."""
    return all(len(part) > 1 and set(part[:2]) <= _HEXADECIMAL for part in text.split("%")[1:])


_HEXADECIMAL: Final = frozenset("0123456789abcdefABCDEF")


def _only(request: ServerRequest, name: str) -> str:
    values = list(_values(request, name))
    if len(values) > 1:
        raise BadRequest(f"header {name} is sent more than once")
    return "".join(values)


def _values(request: ServerRequest, name: str) -> Iterator[str]:
    """The values of a header. They were read as Latin-1, and are UTF-8."""
    for value in request.values(name):
        try:
            text = value.encode("latin-1").decode()
        except UnicodeError as problem:
            raise BadRequest(f"header {name} is not UTF-8") from problem
        if not text or not text.isprintable():
            raise BadRequest(f"header {name} is empty or holds what cannot be printed")
        yield text


def _needed(wanted: User) -> Iterator[Attributes]:
    """The attributes of all permissions that the impersonation needs."""
    account = account_name(wanted.name)
    if account is not None:
        yield _right("serviceaccounts", account.name, namespace=account.namespace)
    else:
        yield _right("users", wanted.name)
    for group in wanted.groups:
        yield _right("groups", group)
    for key, values in wanted.extra.items():
        for value in values:
            yield _right("userextras", value, group=_GROUP_OF_EXTRAS, subresource=key)
    if wanted.uid:
        yield _right("uids", wanted.uid, group=_GROUP_OF_EXTRAS)


def _right(
    resource: str, name: str, *, namespace: str = "", group: str = "", subresource: str = ""
) -> Attributes:
    return Attributes(
        verb="impersonate",
        group=group,
        version="v1",
        resource=resource,
        subresource=subresource,
        namespace=namespace,
        name=name,
    )


def _whole(wanted: User) -> User:
    """The user with its implied groups."""
    account: AccountName | None = account_name(wanted.name)
    groups = wanted.groups
    if account is not None and not groups:
        groups = account.groups
    if wanted.name == ANONYMOUS.name and UNAUTHENTICATED not in groups:
        groups = (*groups, UNAUTHENTICATED)
    return authenticated(User(wanted.name, groups, wanted.uid, wanted.extra))
