"""The messages of refusals, worded like Kubernetes' own: clients rely on them."""

from collections.abc import Iterable
from typing import Final

from kubekit.api.errors import Forbidden
from kubekit.api.kinds.rbac import GROUP, RoleRef
from kubekit.api.status import StatusDetails
from kubekit.plane.access.attributes import Attributes
from kubekit.plane.access.rules import quoted
from kubekit.plane.users import User

_EVERYWHERE: Final = "at the cluster scope"


def not_found(missing: Iterable[RoleRef], plural: str = "") -> str:
    """That roles do not exist. ``plural`` replaces the kind of the roles in the text."""
    lines = dict.fromkeys(
        f"{plural or role.kind.lower()}.{GROUP} {quoted(role.name)} not found" for role in missing
    )
    return f"[{', '.join(lines)}]" if len(lines) > 1 else "".join(lines)


def forbidden(user: User, asked: Attributes, reason: str = "") -> Forbidden:
    """The error for a request. ``reason`` adds more details."""
    why = f": {reason}" if reason else ""
    who = f"User {quoted(user.name)} cannot {asked.verb}"
    if asked.path:
        words = f"forbidden: {who} path {quoted(asked.path)}{why}"
        return Forbidden(words, StatusDetails())
    whole = f"{asked.resource}/{asked.subresource}" if asked.subresource else asked.resource
    where = f"in the namespace {quoted(asked.namespace)}" if asked.namespace else _EVERYWHERE
    words = f"{who} resource {quoted(whole)} in API group {quoted(asked.group)} {where}{why}"
    return refused(asked.group, asked.resource, asked.name, words)


def refused(group: str, resource: str, name: str, why: str) -> Forbidden:
    """The error about one object or, without a name, about a collection."""
    subject = f"{resource}.{group}" if group else resource
    named = f"{subject} {quoted(name)}" if name else subject
    details = StatusDetails(name=name, group=group, kind=resource)
    return Forbidden(f"{named} is forbidden: {why}", details)
