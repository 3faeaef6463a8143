"""The permissions of each part of a manager, and the roles that grant them on each plane.

A part is what one flag of the manager switches on. On a plane it has one ClusterRole, and one Role in
each namespace where it may do more; both are named ``compute-PART-on-PLANE``. They are bound to:

    compute-manager     the ServiceAccount of every manager, in compute-system
    compute-stand-ins   the ServiceAccount of the stand-ins in a cell that they do not run in
    compute-cells       every ServiceAccount of this namespace: a cell on the hub or in a project has the
                        one that is named like the cell
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from compute.api.permissions import (
    ObjectScope,
    Permission,
    PlaneRole,
    allow,
    leases,
    namespaces,
    rules,
)
from compute.app import project_clusters
from compute.controllers.cell.deployment import controller as deployment
from compute.controllers.cell.instance import claims, controller as instance
from compute.controllers.cell.write_back import controller as write_back
from compute.controllers.management import consumers, fleet_metrics
from compute.controllers.management.admission import workload_admission
from compute.controllers.management.federator import controller as federator
from compute.controllers.management.hub import (
    copies,
    moves,
    namespaces as hub_namespaces,
    policies,
)
from compute.controllers.management.projector import controller as projector
from compute.controllers.management.workload import controller as workload
from compute.providers import pods, simulated
from compute.services import (
    default_network,
    entitlements,
    first_entitlements,
    locations,
    projects,
)
from compute.services.network import service as network
from compute.services.quota import service as quota
from kubekit.api.kinds import rbac
from kubekit.api.kinds.authentication import TokenReview
from kubekit.api.kinds.authorization import SubjectAccessReview
from kubekit.api.kinds.core import Namespace
from kubekit.api.kinds.rbac import (
    ClusterRole,
    ClusterRoleBinding,
    PolicyRule,
    Role,
    RoleBinding,
    RoleRef,
    Subject,
)
from kubekit.api.meta import Object, ObjectMeta

SYSTEM: Final = "compute-system"
CELLS: Final = "compute-cells"
MANAGER: Final = "compute-manager"
STAND_INS: Final = "compute-stand-ins"

PLANES: Final[tuple[PlaneRole, ...]] = ("core", "hub", "project", "cell")
_KUBE_SYSTEM: Final = ObjectScope(names=("kube-system",))
PARTS: Final[Mapping[str, Sequence[Permission]]] = {
    "management": (
        *workload.PERMISSIONS,
        *federator.PERMISSIONS,
        *copies.PERMISSIONS,
        *hub_namespaces.PERMISSIONS,
        *policies.PERMISSIONS,
        *moves.PERMISSIONS,
        *projector.PERMISSIONS,
        *workload_admission.PERMISSIONS,
        *project_clusters.PERMISSIONS,
        *fleet_metrics.PERMISSIONS,
        *consumers.PERMISSIONS,
        *leases("hub", SYSTEM),
    ),
    "cell": (
        *deployment.PERMISSIONS,
        *instance.PERMISSIONS,
        *claims.PERMISSIONS,
        *write_back.PERMISSIONS,
        # The uid of this namespace is that of the cluster: the hub must be another one.
        *allow("cell", ("get",), Namespace, scope=_KUBE_SYSTEM),
        *allow("hub", ("get",), Namespace, scope=_KUBE_SYSTEM),
        *leases("cell", SYSTEM),
    ),
    "provider-simulated": (*simulated.PERMISSIONS, *leases("cell", SYSTEM)),
    "provider-pods": (*pods.PERMISSIONS, *leases("cell", SYSTEM)),
    "stand-in-quota": (*quota.PERMISSIONS, *leases("core", SYSTEM)),
    "stand-in-networks": (
        *network.PERMISSIONS,
        *default_network.PERMISSIONS,
        *leases("core", SYSTEM),
    ),
    "stand-in-locations": (*locations.PERMISSIONS, *leases("core", SYSTEM)),
    "stand-in-projects": (*projects.PERMISSIONS, *leases("core", SYSTEM)),
    "stand-in-entitlements": (
        *entitlements.PERMISSIONS,
        *first_entitlements.PERMISSIONS,
        *leases("core", SYSTEM),
    ),
}
# A manager has the cluster that it runs in check who reads its metrics; which plane that is, differs.
_METRICS: Final = allow("cell", ("create",), TokenReview, SubjectAccessReview)


@dataclass(frozen=True, slots=True)
class PartGrant:
    """The roles of one part on one plane, with their bindings."""

    part: str
    plane: PlaneRole

    @property
    def name(self) -> str:
        return f"compute-{self.part}-on-{self.plane}"

    @property
    def permissions(self) -> tuple[Permission, ...]:
        """What the part may do on the plane."""
        return tuple(each for each in PARTS[self.part] if each.plane == self.plane)

    @property
    def subject(self) -> Subject:
        """The part, as the plane authenticates it."""
        if self.part == "cell" and self.plane != "cell":
            group = f"system:serviceaccounts:{CELLS}"
            return Subject(kind="Group", api_group=rbac.GROUP, name=group)
        is_remote = self.part.startswith("stand-in-") and self.plane == "cell"
        return _account(STAND_INS if is_remote else MANAGER)

    def objects(self) -> Iterator[Object]:
        """The roles and bindings."""
        for namespace in namespaces(self.permissions):
            granted = rules(self.permissions, namespace)
            yield from _bound(self.name, namespace, granted, (self.subject,))


def grants() -> list[PartGrant]:
    """Every part on every plane where it works."""
    every = [PartGrant(part, plane) for part in PARTS for plane in PLANES]
    return [grant for grant in every if grant.permissions]


def metrics_objects() -> list[Object]:
    """The role of every manager, for its metrics server."""
    return list(_bound("compute-metrics-auth", "", rules(_METRICS), (_account(MANAGER),)))


def _account(name: str) -> Subject:
    return Subject(kind="ServiceAccount", name=name, namespace=SYSTEM)


def _bound(
    name: str, namespace: str, granted: tuple[PolicyRule, ...], subjects: tuple[Subject, ...]
) -> Iterator[Object]:
    """A role and its binding; in all namespaces, or in one."""
    metadata = ObjectMeta(name=name, namespace=namespace)
    if namespace:
        yield Role(metadata=metadata, rules=granted)
        reference = RoleRef(kind="Role", name=name)
        yield RoleBinding(metadata=metadata, subjects=subjects, role_ref=reference)
    else:
        yield ClusterRole(metadata=metadata, rules=granted)
        reference = RoleRef(kind="ClusterRole", name=name)
        yield ClusterRoleBinding(metadata=metadata, subjects=subjects, role_ref=reference)
