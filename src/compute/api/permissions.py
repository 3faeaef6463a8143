"""What a controller may do on each plane, declared beside the controller.

    PERMISSIONS: Final = (
        *allow("hub", READ, WorkloadDeployment),
        *allow("hub", ("create", "patch", "delete"), WorkloadDeployment),
        *allow("project", ("patch",), Workload, subresource="status"),
        *events("project"),
    )

`compute.app.manager_permissions` adds the declarations up for each process. The roles in `config/base`
are generated from the sums, so a process on a real cluster has these permissions and no others.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from kubekit.api.kinds.coordination import Lease
from kubekit.api.kinds.events import CoreEvent
from kubekit.api.kinds.rbac import PolicyRule
from kubekit.api.meta import Object

PlaneRole = Literal["core", "hub", "project", "cell"]
Verb = Literal["get", "list", "watch", "create", "patch", "delete", "update"]
"""The verbs that our clients send; none sends an update, which only `owners` needs."""

READ: Final[tuple[Verb, ...]] = ("get", "list", "watch")
WATCH: Final[tuple[Verb, ...]] = ("list", "watch")
WRITE: Final[tuple[Verb, ...]] = ("create", "patch", "delete")
_VERBS: Final[tuple[Verb, ...]] = (*READ, *WRITE, "update")


class ObjectScope(NamedTuple):
    """Which objects of a kind. Without a namespace those of all, without names all in it."""

    namespace: str = ""
    names: tuple[str, ...] = ()


EVERYWHERE: Final = ObjectScope()


@dataclass(frozen=True, slots=True)
class Permission:
    """The verbs that are allowed on one kind of one plane, or on a subresource of it."""

    plane: PlaneRole
    verbs: tuple[Verb, ...]
    kind: type[Object]
    subresource: str = ""
    scope: ObjectScope = EVERYWHERE

    @property
    def resource(self) -> str:
        """The resource as a role names it: ``workloads`` or ``workloads/status``."""
        plural = self.kind.RESOURCE.plural
        return f"{plural}/{self.subresource}" if self.subresource else plural


def allow(
    plane: PlaneRole,
    verbs: tuple[Verb, ...],
    *kinds: type[Object],
    subresource: str = "",
    scope: ObjectScope = EVERYWHERE,
) -> tuple[Permission, ...]:
    """The same verbs on several kinds."""
    return tuple(Permission(plane, verbs, kind, subresource, scope) for kind in kinds)


def events(plane: PlaneRole) -> tuple[Permission, ...]:
    """What writing events takes. One that exists already is read, and then counted up."""
    return allow(plane, ("get", "create", "patch"), CoreEvent)


def leases(plane: PlaneRole, namespace: str) -> tuple[Permission, ...]:
    """What a leader election takes."""
    return allow(plane, ("get", "create", "patch"), Lease, scope=ObjectScope(namespace))


def owners(plane: PlaneRole, *kinds: type[Object]) -> tuple[Permission, ...]:
    """What it takes to create objects whose owner references block the deletion of these kinds.

    Servers with the admission plugin OwnerReferencesPermissionEnforcement ask for it. There is no
    such subresource of a custom resource, so it allows no request.
    """
    return allow(plane, ("update",), *kinds, subresource="finalizers")


def namespaces(permissions: Iterable[Permission]) -> tuple[str, ...]:
    """The namespaces that need a Role; an empty name stands for a ClusterRole."""
    return tuple(sorted({permission.scope.namespace for permission in permissions}))


def rules(permissions: Iterable[Permission], namespace: str = "") -> tuple[PolicyRule, ...]:
    """The rules of a role for these permissions, each resource in one rule.

    Resources of one group that allow the same verbs share a rule.
    """
    granted: dict[tuple[str, str, tuple[str, ...]], set[Verb]] = {}
    for each in permissions:
        if each.scope.namespace == namespace:
            key = each.kind.RESOURCE.group, each.resource, each.scope.names
            granted.setdefault(key, set()).update(each.verbs)
    shared: dict[tuple[str, tuple[str, ...], tuple[Verb, ...]], list[str]] = {}
    for (group, resource, names), verbs in sorted(granted.items()):
        ordered = tuple(verb for verb in _VERBS if verb in verbs)
        shared.setdefault((group, names, ordered), []).append(resource)
    return tuple(
        PolicyRule(
            verbs=verbs, api_groups=(group,), resources=tuple(resources), resource_names=names
        )
        for (group, names, verbs), resources in shared.items()
    )
