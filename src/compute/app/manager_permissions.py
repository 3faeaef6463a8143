"""The permissions of each part of a manager, and the roles that grant them on each plane.

A part is what one flag of the manager switches on. On a plane it has one ClusterRole, and one Role in
each namespace where it may do more; both are named ``compute-PART-on-PLANE``. They are bound to:

    compute-manager     the ServiceAccount of management, cell and provider, in compute-system
    compute-stand-ins   the ServiceAccount of the stand-ins, in compute-system
    compute-cells       every ServiceAccount of this namespace: a cell on the hub or in a project has the
                        one that is named like the cell
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from compute.api.permissions import Permission, PlaneRole, allow, leases, namespaces, rules
from compute.app import project_clusters
from compute.controllers.cell.deployment import controller as deployment
from compute.controllers.cell.instance import claims, controller as instance
from compute.controllers.cell.write_back import controller as write_back
from compute.controllers.management import fleet_metrics
from compute.controllers.management.admission import workload_admission
from compute.controllers.management.federator import controller as federator
from compute.controllers.management.hub import namespaces as hub_namespaces, policies
from compute.controllers.management.projector import controller as projector
from compute.controllers.management.workload import controller as workload
from compute.providers import simulated
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
from kubekit.api.kinds.authentication import SelfSubjectReview, TokenReview
from kubekit.api.kinds.authorization import SelfSubjectAccessReview, SubjectAccessReview
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
PARTS: Final[Mapping[str, Sequence[Permission]]] = {
    "management": (
        *workload.PERMISSIONS,
        *federator.PERMISSIONS,
        *hub_namespaces.PERMISSIONS,
        *policies.PERMISSIONS,
        *projector.PERMISSIONS,
        *workload_admission.PERMISSIONS,
        *project_clusters.PERMISSIONS,
        *fleet_metrics.PERMISSIONS,
        *leases("hub", SYSTEM),
    ),
    "cell": (
        *deployment.PERMISSIONS,
        *instance.PERMISSIONS,
        *claims.PERMISSIONS,
        *write_back.PERMISSIONS,
        *leases("cell", SYSTEM),
    ),
    "provider-simulated": (*simulated.PERMISSIONS, *leases("cell", SYSTEM)),
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
# A manager checks the callers of its metrics with the cluster that it runs in.
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
        """What the part may do on the plane, and the questions that it asks there at its start."""
        own = tuple(each for each in PARTS[self.part] if each.plane == self.plane)
        questions = allow(self.plane, ("create",), SelfSubjectAccessReview, SelfSubjectReview)
        return (*own, *questions) if own else ()

    @property
    def subject(self) -> Subject:
        """The part, as the plane authenticates it."""
        if self.part == "cell" and self.plane != "cell":
            group = f"system:serviceaccounts:{CELLS}"
            return Subject(kind="Group", api_group=rbac.GROUP, name=group)
        return _account(STAND_INS if self.part.startswith("stand-in-") else MANAGER)

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
    subjects = (_account(MANAGER), _account(STAND_INS))
    return list(_bound("compute-metrics-auth", "", rules(_METRICS), subjects))


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
