"""Requests that were sent, compared with permissions that are declared."""

from collections.abc import Iterable, Sequence

from compute.api.permissions import Permission
from tests.support.kubekit.request_audit import SentRequest


def covers(permission: Permission, request: SentRequest) -> bool:
    """Whether a permission allows a request."""
    names = permission.scope.names
    return (
        request.verb in permission.verbs
        and (request.group, request.resource)
        == (permission.kind.RESOURCE.group, permission.resource)
        and permission.scope.namespace in {"", request.namespace}
        and (not names or request.name in names)
    )


def undeclared(sent: Iterable[SentRequest], declared: Sequence[Permission]) -> list[SentRequest]:
    return sorted(each for each in sent if not any(covers(p, each) for p in declared))
