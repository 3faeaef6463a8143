"""apiextensions.k8s.io/v1: CustomResourceDefinition, by which a plane learns a kind."""

from typing import Any, ClassVar, Literal

import msgspec

from compute.api.core import CoreCondition
from compute.api.meta import Object
from compute.api.resource import AGE, Resource
from compute.api.wire import Wire, always


class CrdNames(Wire, frozen=True, kw_only=True):
    """What a kind is called where."""

    plural: str
    singular: str = ""
    short_names: tuple[str, ...] = ()
    kind: str
    list_kind: str = ""
    categories: tuple[str, ...] = ()


class CrdSchema(Wire, frozen=True, kw_only=True):
    """What an object may look like."""

    open_api_v3_schema: dict[str, Any] | None = msgspec.field(default=None, name="openAPIV3Schema")


class CrdScale(Wire, frozen=True, kw_only=True):
    """Where the scale subresource finds its numbers."""

    spec_replicas_path: str
    status_replicas_path: str
    label_selector_path: str | None = None


class CrdSubresources(Wire, frozen=True, kw_only=True):
    """Parts of an object that are written on their own. An empty ``status`` switches it on."""

    status: dict[str, Any] | None = None
    scale: CrdScale | None = None


class CrdColumn(Wire, frozen=True, kw_only=True):
    """One printer column; ``priority`` above zero means wide output only."""

    name: str
    type: str
    format: str = ""
    description: str = ""
    priority: int = 0
    json_path: str


class SelectableField(Wire, frozen=True, kw_only=True):
    """A field that lists may be narrowed by."""

    json_path: str


class CrdVersion(Wire, frozen=True, kw_only=True):
    """One version of a kind."""

    name: str
    served: bool
    storage: bool
    deprecated: bool = False
    deprecation_warning: str | None = None
    schema: CrdSchema | None = None
    subresources: CrdSubresources | None = None
    additional_printer_columns: tuple[CrdColumn, ...] = ()
    selectable_fields: tuple[SelectableField, ...] = ()


class ServiceReference(Wire, frozen=True, kw_only=True):
    """A port and path of a Service."""

    namespace: str
    name: str
    path: str | None = None
    port: int | None = None


class WebhookClientConfig(Wire, frozen=True, kw_only=True):
    """How to reach a webhook: by URL or by Service. ``ca_bundle`` is base64."""

    url: str | None = None
    service: ServiceReference | None = None
    ca_bundle: str = ""


class WebhookConversion(Wire, frozen=True, kw_only=True):
    """The webhook that converts, and the review versions it speaks."""

    client_config: WebhookClientConfig | None = None
    conversion_review_versions: tuple[str, ...]


class CrdConversion(Wire, frozen=True, kw_only=True):
    """How one version becomes another: None changes only the apiVersion."""

    strategy: str
    webhook: WebhookConversion | None = None


class CustomResourceDefinitionSpec(Wire, frozen=True, kw_only=True):
    """A kind: its names, its scope, its versions."""

    group: str
    names: CrdNames
    scope: str
    versions: tuple[CrdVersion, ...]
    conversion: CrdConversion | None = None
    preserve_unknown_fields: bool = False


class CustomResourceDefinitionStatus(Wire, frozen=True, kw_only=True):
    """Whether the kind is served (Established), and in which versions objects are stored."""

    conditions: tuple[CoreCondition, ...] = ()
    accepted_names: CrdNames | None = None
    stored_versions: tuple[str, ...] = ()


class CustomResourceDefinition(Object, frozen=True, kw_only=True):
    """A kind that a plane serves without having been built with it."""

    RESOURCE: ClassVar[Resource] = Resource(
        group="apiextensions.k8s.io",
        version="v1",
        kind="CustomResourceDefinition",
        plural="customresourcedefinitions",
        namespaced=False,
        short_names=("crd", "crds"),
        categories=("api-extensions",),
        status=True,
        columns=(AGE,),
    )

    api_version: Literal["apiextensions.k8s.io/v1"] = always("apiextensions.k8s.io/v1")
    kind: Literal["CustomResourceDefinition"] = always("CustomResourceDefinition")
    spec: CustomResourceDefinitionSpec
    status: CustomResourceDefinitionStatus = msgspec.field(
        default_factory=CustomResourceDefinitionStatus
    )
