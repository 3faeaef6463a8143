"""apiextensions.k8s.io/v1: CustomResourceDefinition, which adds a kind to a plane.

Nothing here is required: separate rules report everything that is missing, in the wording of
Kubernetes.
"""

from typing import Annotated, Any, ClassVar, Literal

import msgspec

from kubekit.api.kinds.core import CoreCondition
from kubekit.api.kinds.webhook_clients import WebhookClientConfig
from kubekit.api.meta import Object
from kubekit.api.resource import AGE, Resource
from kubekit.api.wire import ATOMIC_LIST, Int32, Wire, always, list_map

_Texts = Annotated[tuple[str, ...], ATOMIC_LIST]


class CrdNames(Wire, frozen=True, kw_only=True):
    """The names of a kind."""

    plural: str = always("")
    """The name in URLs, in lower case, such as widgets."""
    singular: str = ""
    """The name of one, in lower case; the kind in lower case if it is left out."""
    short_names: _Texts = ()
    """Shorter names for use on a command line."""
    kind: str = always("")
    """The name in manifests, in CamelCase, such as Widget."""
    list_kind: str = ""
    """The kind of a list of them; the kind and List if it is left out."""
    categories: _Texts = ()
    """The groups of kinds it belongs to, such as all."""


class CrdSchema(Wire, frozen=True, kw_only=True):
    """The schema of the objects of a version."""

    open_api_v3_schema: dict[str, Any] | None = msgspec.field(default=None, name="openAPIV3Schema")
    """The structural schema of the objects."""


class CrdScale(Wire, frozen=True, kw_only=True):
    """The fields that the scale subresource reads and writes."""

    spec_replicas_path: str = ""
    """The path under .spec of how many are wanted."""
    status_replicas_path: str = ""
    """The path under .status of how many there are."""
    label_selector_path: str | None = None
    """The path, under .spec or .status, of the selector of what is counted."""


class CrdSubresources(Wire, frozen=True, kw_only=True):
    """Parts of an object that are written on their own. An empty ``status`` switches it on."""

    status: dict[str, Any] | None = None
    """Whether the status is written on its own: it is if this is there."""
    scale: CrdScale | None = None
    """The fields of the scale subresource; without them there is none."""


class CrdColumn(Wire, frozen=True, kw_only=True):
    """One printer column; ``priority`` above zero means wide output only."""

    name: str = ""
    """The heading of the column."""
    type: str = ""
    """The type of its values: boolean, date, integer, number or string."""
    format: str = ""
    """The format of its values, such as int32."""
    description: str = ""
    """What the column shows."""
    priority: Int32 = 0
    """Zero for a column that is always shown; others are shown in wide output only."""
    json_path: str = ""
    """The path of the value, such as .spec.size."""


class SelectableField(Wire, frozen=True, kw_only=True):
    """A field that lists may be narrowed by."""

    json_path: str = ""
    """The path of the field, such as .spec.colour."""


class CrdVersion(Wire, frozen=True, kw_only=True):
    """One version of a kind."""

    name: str = always("")
    """The name of the version, such as v1."""
    served: bool = always(False)  # noqa: FBT003 -- the value that is always written
    """Whether the version can be used."""
    storage: bool = always(False)  # noqa: FBT003 -- the value that is always written
    """Whether objects are stored in this version; exactly one version says so."""
    deprecated: bool = False
    """Whether requests of this version get a warning."""
    deprecation_warning: str | None = None
    """The text of that warning, instead of the default one."""
    schema: CrdSchema | None = None
    """The schema of the objects of this version."""
    subresources: CrdSubresources | None = None
    """The parts of an object that are written on their own."""
    additional_printer_columns: Annotated[tuple[CrdColumn, ...], ATOMIC_LIST] = ()
    """The columns of an object in a table; its age if there are none."""
    selectable_fields: Annotated[tuple[SelectableField, ...], ATOMIC_LIST] = ()
    """The fields that lists may be narrowed by, at most eight."""


class WebhookConversion(Wire, frozen=True, kw_only=True):
    """The webhook that converts, and the review versions it speaks."""

    client_config: WebhookClientConfig | None = None
    """How to reach the webhook."""
    conversion_review_versions: _Texts = ()
    """The versions of ConversionReview that it understands."""


class CrdConversion(Wire, frozen=True, kw_only=True):
    """How one version becomes another: None changes only the apiVersion."""

    strategy: str = always("")
    """None: only the apiVersion changes. Other strategies are not served here."""
    webhook: WebhookConversion | None = None
    """The webhook of the strategy Webhook."""


class CustomResourceDefinitionSpec(Wire, frozen=True, kw_only=True):
    """A kind: its names, its scope, its versions."""

    group: str = always("")
    """The group of the kind, which is a domain, such as example.com."""
    names: CrdNames = msgspec.field(default_factory=CrdNames)
    """The names of the kind."""
    scope: str = always("")
    """Namespaced, or Cluster for objects outside of namespaces."""
    versions: Annotated[tuple[CrdVersion, ...], ATOMIC_LIST] = always(())
    """The versions of the kind."""
    conversion: CrdConversion | None = None
    """How one version becomes another."""
    preserve_unknown_fields: bool = False
    """Not to be set: x-kubernetes-preserve-unknown-fields in the schema takes its place."""


class CustomResourceDefinitionStatus(Wire, frozen=True, kw_only=True):
    """Whether the kind is served (Established), and in which versions objects are stored."""

    conditions: Annotated[tuple[CoreCondition, ...], list_map("type")] = ()
    """Whether the names are accepted, the kind is established, the definition is terminating."""
    accepted_names: CrdNames | None = None
    """The names that are in use."""
    stored_versions: _Texts = ()
    """The versions that objects may be stored in. To be shortened once none is stored so."""


class CustomResourceDefinition(Object, frozen=True, kw_only=True):
    """A kind that a plane serves although it is not built in."""

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
    spec: CustomResourceDefinitionSpec = msgspec.field(default_factory=CustomResourceDefinitionSpec)
    """The kind that is served."""
    status: CustomResourceDefinitionStatus = msgspec.field(
        default_factory=CustomResourceDefinitionStatus
    )
    """The state of the definition."""
