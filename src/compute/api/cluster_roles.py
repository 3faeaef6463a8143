"""The ClusterRoles for users: three for a project, one for operators of the hub and the cells.

    compute-viewer    reads what is in a project, but for Secrets
    compute-editor    and deploys: Workloads, Networks, ConfigMaps, Secrets
    compute-admin     and shares: roles, bindings, service accounts; requests access to compute
    compute-operator  reads a hub or a cell, and writes what its operator works with

The first three are part of Kubernetes' own view, edit and admin. A plane ensures those of its
role when it starts; `config/base/rbac` has all of them for other clusters.
"""

from typing import Final

from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.karmada import MemberCluster, PropagationPolicy, ResourceInterpreterCustomization
from compute.api.karmada_work import ResourceBinding, Work
from compute.api.networking import (
    Location,
    LocationBinding,
    Network,
    NetworkBinding,
    NetworkContext,
    Subnet,
    SubnetClaim,
)
from compute.api.quota import AllowanceBucket, ResourceClaim
from compute.api.services import ServiceEntitlement
from kubekit.api.kinds.apiextensions import CustomResourceDefinition
from kubekit.api.kinds.authorization import LocalSubjectAccessReview
from kubekit.api.kinds.coordination import Lease
from kubekit.api.kinds.core import ConfigMap, Namespace, Secret, ServiceAccount
from kubekit.api.kinds.events import CoreEvent, Event
from kubekit.api.kinds.rbac import GROUP, ClusterRole, PolicyRule, Role, RoleBinding
from kubekit.api.meta import Object, ObjectMeta

_READ: Final = ("get", "list", "watch")
_WRITE: Final = ("create", "delete", "deletecollection", "patch", "update")
_DELETE: Final = ("delete", "deletecollection")

_COMPUTE: Final = (Workload, WorkloadDeployment, Instance)
_NETWORKS: Final = (
    Network, NetworkBinding, NetworkContext, SubnetClaim, Subnet, Location, LocationBinding,
)  # fmt: skip
_KARMADA: Final = (
    MemberCluster, PropagationPolicy, ResourceInterpreterCustomization, ResourceBinding, Work,
)  # fmt: skip
_EVENTS: Final = (CoreEvent, Event)

OPERATOR_SETTINGS: Final = ("network-faults", "simulated-provider")
"""The ConfigMaps of a cell that its operator may change."""


def _rules(
    verbs: tuple[str, ...], *kinds: type[Object], names: tuple[str, ...] = ()
) -> tuple[PolicyRule, ...]:
    """A rule for each group of these kinds. Permission to read a kind includes its status."""
    by_group: dict[str, list[str]] = {}
    for kind in kinds:
        resource = kind.RESOURCE
        plurals = by_group.setdefault(resource.group, [])
        plurals.append(resource.plural)
        if resource.status and verbs == _READ:
            plurals.append(f"{resource.plural}/status")
    return tuple(
        PolicyRule(
            verbs=verbs, api_groups=(group,), resources=tuple(resources), resource_names=names
        )
        for group, resources in by_group.items()
    )


def _paths(*paths: str) -> PolicyRule:
    return PolicyRule(verbs=("get",), non_resource_urls=paths)


def _role(name: str, *rules: tuple[PolicyRule, ...], part_of: str = "") -> ClusterRole:
    labels = {f"{GROUP}/aggregate-to-{part_of}": "true"} if part_of else {}
    return ClusterRole(
        metadata=ObjectMeta(name=name, labels=labels),
        rules=tuple(rule for more in rules for rule in more),
    )


# Claims are read-only, and entitlements are not changed: a write could approve them; admission checks
# that no new one brings its approval along. kubectl searches the definitions
# for an unknown kind: without that permission a typo would be reported as a missing permission.
_VIEWER: Final = _rules(
    _READ, Namespace, ConfigMap, ServiceAccount, *_EVENTS, *_COMPUTE, *_NETWORKS,
    ResourceClaim, AllowanceBucket, ServiceEntitlement, CustomResourceDefinition,
)  # fmt: skip
_EDITOR: Final = (
    *_VIEWER,
    *_rules(_READ, Secret),
    *_rules(_WRITE, Workload, Network, ConfigMap, Secret),
    *_rules(("use",), Network),  # admission checks it for every network that a Workload names
)
# Namespaces are the administrator's, as in Kubernetes' own admin, which this role is part of.
_ADMIN: Final = (
    *_EDITOR,
    *_rules(_READ + _WRITE, Role, RoleBinding),
    *_rules(("create",), LocalSubjectAccessReview),
    *_rules(_WRITE, ServiceAccount),
    PolicyRule(verbs=("create",), api_groups=("",), resources=("serviceaccounts/token",)),
    *_rules(("create", "delete"), ServiceEntitlement),
)

VIEWER: Final = _role("compute-viewer", _VIEWER, part_of="view")
EDITOR: Final = _role("compute-editor", _EDITOR, part_of="edit")
ADMIN: Final = _role("compute-admin", _ADMIN, part_of="admin")
OPERATOR: Final = _role(
    "compute-operator",
    _rules(
        _READ, Namespace, ConfigMap, *_EVENTS, Lease, CustomResourceDefinition,
        *_COMPUTE, *_NETWORKS, *_KARMADA,
    ),
    _rules(_WRITE, MemberCluster),
    # Objects that the system creates again after their deletion.
    _rules(_DELETE, WorkloadDeployment, Instance, PropagationPolicy, ResourceBinding, Work),
    # A request to create names no object, so a rule with names cannot allow it.
    _rules(("create",), ConfigMap),
    _rules(("delete", "patch", "update"), ConfigMap, names=OPERATOR_SETTINGS),
    (_paths("/healthz", "/livez", "/livez/*", "/metrics", "/readyz", "/readyz/*"),),
)  # fmt: skip

OF_PROJECTS: Final = (VIEWER, EDITOR, ADMIN)
ALL: Final = (*OF_PROJECTS, OPERATOR)
