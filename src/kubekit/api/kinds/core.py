"""v1: the kinds every plane has. Namespace, ConfigMap, Secret, ServiceAccount."""

from datetime import datetime
from typing import Annotated, ClassVar, Literal

import msgspec

from kubekit.api.meta import ConditionStatus, Object
from kubekit.api.resource import AGE, Column, Resource
from kubekit.api.wire import Rule, Wire, always

# A null between the values of a map is the empty text, as Go reads it.
_Text = Annotated[str, Rule(nullable=True)]


class ObjectReference(Wire, frozen=True, kw_only=True):
    """Any object, or a part of it, in as much detail as its writer knew."""

    api_version: str = ""
    """The group and version of the object."""
    kind: str = ""
    """The kind of the object."""
    namespace: str = ""
    """The namespace of the object."""
    name: str = ""
    """The name of the object."""
    uid: str = ""
    """The uid of the object, which no other one ever has."""
    resource_version: str = ""
    """The version of the object that is meant."""
    field_path: str = ""
    """The part of the object that is meant, such as spec.containers{web}."""


class OptionalRef(Wire, frozen=True, kw_only=True):
    """An object in the same namespace, by name, which the built-in kinds do not insist on."""

    name: str = ""
    """The name of the object."""


class CoreCondition(Wire, frozen=True, kw_only=True):
    """A condition as the built-in kinds write it: all but type and status may be missing."""

    type: str
    """What the condition is about."""
    status: ConditionStatus
    """Whether it is so."""
    observed_generation: int = 0
    """The generation that was observed."""
    last_transition_time: datetime | None = None
    """When the status last changed."""
    reason: str = ""
    """Why it is so, in one word of CamelCase."""
    message: str = ""
    """Why it is so, for people to read."""


class NamespaceSpec(Wire, frozen=True, kw_only=True):
    """What holds a Namespace once its deletion was requested."""

    finalizers: tuple[str, ...] = ()
    """The finalizers that hold the Namespace; `kubernetes` deletes its content first."""


class NamespaceStatus(Wire, frozen=True, kw_only=True):
    """Active, or Terminating while its content is removed."""

    phase: str = ""
    """Active, or Terminating."""
    conditions: tuple[CoreCondition, ...] = ()
    """What is left in a Namespace that is Terminating, and why."""


class Namespace(Object, frozen=True, kw_only=True):
    """A scope for names."""

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
    """The finalizers of the Namespace."""
    status: NamespaceStatus = msgspec.field(default_factory=NamespaceStatus)
    """The phase of the Namespace, and what its deletion waits for."""


class ConfigMap(Object, frozen=True, kw_only=True):
    """Settings and files, for programs to read."""

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
    data: dict[str, _Text] = {}
    """Settings and texts, by name."""
    binary_data: dict[str, _Text] = {}
    """What is not text, by name, in base64."""
    immutable: bool | None = None
    """Whether the content can no longer be changed; once set, it stays set."""


class Secret(Object, frozen=True, kw_only=True):
    """Settings and files that only some users may read."""

    RESOURCE: ClassVar[Resource] = Resource(
        group="",
        version="v1",
        kind="Secret",
        plural="secrets",
        columns=(Column("Type", ".type"), AGE),
    )

    api_version: Literal["v1"] = always("v1")
    kind: Literal["Secret"] = always("Secret")
    data: dict[str, _Text] = {}
    """The data, by name, in base64."""
    string_data: dict[str, _Text] = {}
    """The same in plain text, for writing only: it becomes part of the data."""
    type: str = ""
    """What the data is for; it cannot be changed."""
    immutable: bool | None = None
    """Whether the content can no longer be changed; once set, it stays set."""


class ServiceAccount(Object, frozen=True, kw_only=True):
    """The identity of a process towards a plane."""

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
    """The Secrets that its processes may use."""
    image_pull_secrets: tuple[OptionalRef, ...] = ()
    """The Secrets that its processes' images are pulled with."""
    automount_service_account_token: bool | None = None
    """Whether its processes find a token of it in a file."""
