"""Entitlements: a project requests a service, which is approved automatically, later, or by hand.

The settings are in the ConfigMap ``entitlements`` in the namespace milo-system of the core plane:

    approval       Automatic, or Manual
    delaySeconds   how long an automatic approval takes
    services       the available services, separated by commas

By hand: the annotation ``services.miloapis.com/approval`` of the entitlement, Approved or Denied.
It overrides everything else.
"""

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from compute.api.conditions import NeighbourCondition
from compute.api.permissions import READ, WATCH, allow, events
from compute.api.reasons import NeighbourReason
from compute.api.resource_manager import Project
from compute.api.services import ServiceEntitlement
from compute.decide import entitlement as rules
from compute.decide.conditions import is_true
from compute.decide.entitlement import ApprovalSettings
from compute.services.planes import PLATFORM, ServicePlanes
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import Object
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.reporting.events import EventRecorder
from kubekit.runtime.requests import DONE, ClusterName, Request, Result
from kubekit.runtime.sources import mapped, own

SETTINGS: Final = "entitlements"  # the ConfigMap
_NAME: Final = "entitlements"  # the controller
_CHECK: Final = "entitlement-settings"  # the controller of the settings

PERMISSIONS: Final = (
    *allow("project", READ, ServiceEntitlement),
    *allow("project", ("patch",), ServiceEntitlement, subresource="status"),
    *allow("core", READ, ConfigMap),
    *allow("core", WATCH, Project),
    *events("core"),
)


class Entitlements:
    """Answers the entitlements of projects."""

    def __init__(
        self, planes: ServicePlanes, recorder: EventRecorder, environment: ExecutionEnvironment
    ) -> None:
        self._planes = planes
        self._recorder = recorder
        self._environment = environment
        self._settings: ApprovalSettings | None = (
            None  # None until they are read for the first time
        )
        self._version = ""  # of the ConfigMap that the settings were read from

    async def reconcile(self, request: Request) -> Result:
        plane = self._planes.projects.get(request.cluster)
        entitlement = plane.informers.of(ServiceEntitlement).cache.get("", request.name)
        if entitlement is None or entitlement.deleting:
            return DONE
        core = self._planes.core.sole()
        answer = rules.answer(
            entitlement,
            await self.settings(core),
            self._environment.now(),
            suspended=_is_suspended(core, plane.name),
        )
        answered = msgspec.structs.replace(entitlement, status=answer.status)
        await plane.client.patch_status(entitlement, answered)
        return Result(requeue_after=answer.requeue_after)

    async def settings(self, core: Cluster) -> ApprovalSettings:
        """The current settings. Their faults are reported once for each version of them."""
        stored = await live.cached(core, ConfigMap, SETTINGS, PLATFORM)
        if stored is None:
            self._settings, self._version = ApprovalSettings(), ""
        elif self._settings is None or stored.metadata.resource_version != self._version:
            self._settings, faults = rules.read_settings(stored.data, self._settings)
            self._version = stored.metadata.resource_version
            for fault in faults:
                reason = NeighbourReason.SETTINGS_INVALID
                self._recorder.event(core.client, stored, "Warning", reason, fault, "ReadSettings")
        return self._settings


class SettingsCheck:
    """Reads the settings when they change, even if there is no entitlement."""

    def __init__(self, planes: ServicePlanes, entitlements: Entitlements) -> None:
        self._planes = planes
        self._entitlements = entitlements

    async def reconcile(self, request: Request) -> Result:
        await self._entitlements.settings(self._planes.core.get(request.cluster))
        return DONE


def controllers(planes: ServicePlanes, factory: ControllerFactory) -> list[Controller]:
    """The controllers of entitlements and of their settings."""
    reconciler = Entitlements(planes, factory.recorder(_NAME), factory.environment)
    check = SettingsCheck(planes, reconciler)
    every = _every(planes)
    sources = [
        own(ServiceEntitlement, planes.projects),
        mapped(ConfigMap, planes.core, _if_settings(every)),
        mapped(Project, planes.core, _of_project(planes)),
    ]
    return [
        factory.controller(_NAME, reconciler, planes.projects, sources),
        factory.controller(_CHECK, check, planes.core, [mapped(ConfigMap, planes.core, _settings)]),
    ]


def _every(planes: ServicePlanes) -> Callable[[], Iterable[Request]]:
    return lambda: [request for project in planes.projects for request in _of(project)]


def _of(project: Cluster) -> Iterable[Request]:
    keys = project.informers.of(ServiceEntitlement).cache.keys()
    return [Request(project.name, *key) for key in keys]


def _if_settings(
    every: Callable[[], Iterable[Request]],
) -> Callable[[ClusterName, Object], Iterable[Request]]:
    return lambda core, obj: every() if any(_settings(core, obj)) else ()


def _settings(core: ClusterName, obj: Object) -> Iterable[Request]:
    if (obj.metadata.namespace, obj.metadata.name) == (PLATFORM, SETTINGS):
        yield Request(core, PLATFORM, SETTINGS)


def _of_project(planes: ServicePlanes) -> Callable[[ClusterName, Object], Iterable[Request]]:
    """The entitlements of a project: their status depends on whether it is suspended."""

    def to(_: ClusterName, obj: Object) -> Iterable[Request]:
        project = planes.projects.find(ClusterName(obj.metadata.name))
        return _of(project) if project else ()

    return to


def _is_suspended(core: Cluster, name: str) -> bool:
    project = core.informers.of(Project).cache.get("", name)
    return project is not None and is_true(project.status.conditions, NeighbourCondition.SUSPENDED)
