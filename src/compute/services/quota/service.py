"""The controllers of the quota service."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from compute.api.karmada import MemberCluster as Member
from compute.api.permissions import READ, WATCH, WRITE, allow, events
from compute.api.quota import AllowanceBucket, ResourceClaim, ResourceGrant, ResourceRegistration
from compute.api.resource_manager import Project
from compute.services.planes import PLATFORM, ServicePlanes
from compute.services.quota import bucket_copies, lookups
from compute.services.quota.budgets import BudgetKeeper
from compute.services.quota.grants import FIRST_GRANT, FirstGrants, Grants
from compute.services.quota.leaks import Leaks
from compute.services.quota.ledger import ClaimLedgers
from compute.services.quota.registrations import Foundation, Registrations
from kubekit.api.kinds.core import ConfigMap, Namespace
from kubekit.api.meta import Object
from kubekit.runtime.controller import Controller, ControllerSettings
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.reconciling.write_conflicts import WriteConflictSettings
from kubekit.runtime.requests import ClusterName, Request
from kubekit.runtime.sources import Source, mapped, own

_KEEPER: Final = "quota"
# One object for each project is written at each batch, and reconciled after each change: this is
# normal load, not a loop.
_BUSY: Final = ControllerSettings(write_conflicts=WriteConflictSettings(limit=100), storm=100_000)

PERMISSIONS: Final = (
    *allow("core", (*WATCH, "create"), Namespace, ResourceRegistration),
    *allow("core", (*READ, "create"), ResourceGrant, AllowanceBucket),
    *allow(
        "core", ("patch",), ResourceRegistration, ResourceGrant, AllowanceBucket,
        subresource="status",
    ),
    *allow("core", (*READ, "create", "patch"), ConfigMap),  # ledgers
    *allow("core", READ, Project),
    *allow("hub", READ, Member),
    *allow("project", READ, ResourceClaim),
    *allow("project", ("patch",), ResourceClaim, AllowanceBucket, subresource="status"),
    *allow("project", (*READ, *WRITE), AllowanceBucket),
    *allow("project", (*WATCH, "create"), Namespace),
    *events("project"),
)  # fmt: skip


def controllers(
    planes: ServicePlanes,
    factory: ControllerFactory,
    first_grant: Mapping[str, int] = FIRST_GRANT,
    *,
    copied: bool = True,
) -> list[Controller]:
    """All of quota. ``first_grant`` is what a new project may use, by type of resource.

    The buckets are ``copied`` to their projects, unless core is the plane of the only project.
    """
    core, environment = planes.core, factory.environment
    registrations = own(ResourceRegistration, core)
    return [
        factory.controller("quota-foundation", Foundation(core), core, _foundation(planes)),
        factory.controller(
            "quota-registrations",
            Registrations(core, environment),
            core,
            [
                registrations,
                mapped(ResourceRegistration, core, _every(planes, ResourceRegistration)),
            ],
        ),
        factory.controller(
            "quota-first-grants",
            FirstGrants(core, first_grant),
            core,
            [
                own(Project, core),
                mapped(ResourceGrant, core, _consumer_in_core),
                mapped(Namespace, core, _every(planes, Project)),
            ],
        ),
        factory.controller(
            "quota-grants",
            Grants(core, environment),
            core,
            [
                own(ResourceGrant, core),
                mapped(ResourceRegistration, core, _every(planes, ResourceGrant)),
            ],
        ),
        _keeper(planes, factory),
        *([bucket_copies.controller(planes, factory)] if copied else []),
    ]


def _keeper(planes: ServicePlanes, factory: ControllerFactory) -> Controller:
    ledgers = ClaimLedgers()
    planes.projects.join(ledgers)
    leaks = Leaks(planes.hub, factory.recorder(_KEEPER))
    factory.metrics.registry.register(leaks)
    keeper = BudgetKeeper(planes, ledgers, leaks, factory.environment)
    sources = [
        mapped(ResourceClaim, planes.projects, _claims_project),
        mapped(Project, planes.core, _own_project),
        mapped(ResourceGrant, planes.core, _consumer),
        mapped(AllowanceBucket, planes.core, _labelled),
        mapped(ConfigMap, planes.core, _labelled),
        mapped(ResourceRegistration, planes.core, _all_projects(planes)),
        mapped(Member, planes.hub, _all_projects(planes)),
    ]
    return factory.controller(_KEEPER, keeper, planes.projects, sources, _BUSY)


def _foundation(planes: ServicePlanes) -> list[Source[Any]]:
    def to(cluster: ClusterName, _: Object) -> Iterable[Request]:
        return (Request(cluster, "", PLATFORM),)

    return [mapped(Namespace, planes.core, to), mapped(ResourceRegistration, planes.core, to)]


def _every(
    planes: ServicePlanes, kind: type[Object]
) -> Callable[[ClusterName, Object], Iterable[Request]]:
    """All objects of a kind in the core plane: any of them may wait for this change."""

    def to(cluster: ClusterName, _: Object) -> Iterable[Request]:
        keys = planes.core.get(cluster).informers.of(kind).cache.keys()
        return [Request(cluster, *key) for key in keys]

    return to


def _all_projects(planes: ServicePlanes) -> Callable[[ClusterName, Object], Iterable[Request]]:
    return lambda _, __: [_budget(project.name) for project in planes.projects]


def _budget(project: str) -> Request:
    return Request(ClusterName(project), "", "budget")


def _claims_project(cluster: ClusterName, _: ResourceClaim) -> Iterable[Request]:
    return (_budget(cluster),)


def _own_project(_: ClusterName, project: Project) -> Iterable[Request]:
    return (_budget(project.metadata.name),)


def _consumer(_: ClusterName, grant: ResourceGrant) -> Iterable[Request]:
    return (_budget(grant.spec.consumer_ref.name),)


def _consumer_in_core(cluster: ClusterName, grant: ResourceGrant) -> Iterable[Request]:
    return (Request(cluster, "", grant.spec.consumer_ref.name),)


def _labelled(_: ClusterName, obj: Object) -> Iterable[Request]:
    project = obj.metadata.labels.get(lookups.CONSUMER_NAME)
    return (_budget(project),) if project else ()
