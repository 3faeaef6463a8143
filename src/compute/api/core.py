"""v1: the kinds every plane has. Namespace, ConfigMap, Secret, ServiceAccount."""

from datetime import datetime
from typing import ClassVar, Literal

import msgspec

from compute.api.meta import ConditionStatus, LocalRef, Object
from compute.api.resource import AGE, Column, Resource
from compute.api.wire import Wire, always


class ObjectReference(Wire, frozen=True, kw_only=True):
    """Any object, or a part of it, in as much detail as its writer knew."""

    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    resource_version: str = ""
    field_path: str = ""


class CoreCondition(Wire, frozen=True, kw_only=True):
    """A condition as the built-in kinds write it: all but type and status may be missing."""

    type: str
    status: ConditionStatus
    observed_generation: int = 0
    last_transition_time: datetime | None = None
    reason: str = ""
    message: str = ""


class NamespaceSpec(Wire, frozen=True, kw_only=True):
    """What holds a Namespace once its deletion was asked for."""

    finalizers: tuple[str, ...] = ()


class NamespaceStatus(Wire, frozen=True, kw_only=True):
    """Active, or Terminating while its content is removed."""

    phase: str = ""
    conditions: tuple[CoreCondition, ...] = ()


class Namespace(Object, frozen=True, kw_only=True):
    """A room for names."""

    RESOURCE: ClassVar[Resource] = Resource(
        group="",
        version="v1",
        kind="Namespace",
        plural="namespaces",
        namespaced=False,
        short_names=("ns",),
        status=True,
        columns=(Column("Status", ".status.phase"), AGE),
    )

    api_version: Literal["v1"] = always("v1")
    kind: Literal["Namespace"] = always("Namespace")
    spec: NamespaceSpec = msgspec.field(default_factory=NamespaceSpec)
    status: NamespaceStatus = msgspec.field(default_factory=NamespaceStatus)


class ConfigMap(Object, frozen=True, kw_only=True):
    """Settings and files. ``binary_data`` is base64."""

    RESOURCE: ClassVar[Resource] = Resource(
        group="",
        version="v1",
        kind="ConfigMap",
        plural="configmaps",
        short_names=("cm",),
        columns=(AGE,),
    )

    api_version: Literal["v1"] = always("v1")
    kind: Literal["ConfigMap"] = always("ConfigMap")
    data: dict[str, str] = {}
    binary_data: dict[str, str] = {}
    immutable: bool | None = None


class Secret(Object, frozen=True, kw_only=True):
    """Settings and files that few may read. ``data`` is base64.

    ``string_data`` is for writers only: the server moves it into ``data``.
    """

    RESOURCE: ClassVar[Resource] = Resource(
        group="",
        version="v1",
        kind="Secret",
        plural="secrets",
        columns=(Column("Type", ".type"), AGE),
    )

    api_version: Literal["v1"] = always("v1")
    kind: Literal["Secret"] = always("Secret")
    data: dict[str, str] = {}
    string_data: dict[str, str] = {}
    type: str = ""
    immutable: bool | None = None


class ServiceAccount(Object, frozen=True, kw_only=True):
    """Who a process is, when it speaks to a plane."""

    RESOURCE: ClassVar[Resource] = Resource(
        group="",
        version="v1",
        kind="ServiceAccount",
        plural="serviceaccounts",
        short_names=("sa",),
        columns=(AGE,),
    )

    api_version: Literal["v1"] = always("v1")
    kind: Literal["ServiceAccount"] = always("ServiceAccount")
    secrets: tuple[ObjectReference, ...] = ()
    image_pull_secrets: tuple[LocalRef, ...] = ()
    automount_service_account_token: bool | None = None
