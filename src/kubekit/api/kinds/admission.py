"""admissionregistration.k8s.io/v1: admission webhooks; admission.k8s.io/v1: their requests and responses.

A configuration lists webhooks and the requests that each reviews. A webhook receives an
AdmissionReview with a request and returns one with a response.
"""

from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec

from kubekit.api.kinds.authentication import UserInfo
from kubekit.api.kinds.webhook_clients import WebhookClientConfig
from kubekit.api.meta import LabelSelector, Object
from kubekit.api.resource import AGE, Resource
from kubekit.api.status import StatusDetails
from kubekit.api.wire import Int32, Rule, Wire, always, list_map

GROUP: Final = "admissionregistration.k8s.io"
API_VERSION: Final = "admissionregistration.k8s.io/v1"
REVIEW_VERSION: Final = "admission.k8s.io/v1"
REVIEW_KIND: Final = "AdmissionReview"

_CATEGORIES: Final = ("api-extensions",)
# The kinds' own rules report missing fields with more details than "required". Go writes null for an
# empty list.
_Texts = Annotated[tuple[str, ...], Rule(list_type="atomic", nullable=True)]
_BY_NAME: Final = list_map("name").over(Rule(nullable=True))


class RuleWithOperations(Wire, frozen=True, kw_only=True):
    """Operations on resources."""

    operations: _Texts = ()
    """CREATE, UPDATE, DELETE, CONNECT, or * for all of them."""
    api_groups: _Texts = ()
    """The groups of the resources; the empty text is the core group, * stands for all."""
    api_versions: _Texts = ()
    """The versions of the resources; * stands for all."""
    resources: _Texts = ()
    """The resources, such as pods, pods/status, pods/*, */status, * or */*."""
    scope: str | None = None
    """Namespaced, Cluster, or * for both."""


class MatchCondition(Wire, frozen=True, kw_only=True):
    """An expression that must hold for a webhook to be called."""

    name: str = ""
    """The name of the condition."""
    expression: str = ""
    """The condition in the Common Expression Language, about object, oldObject and request."""


class ValidatingWebhook(Wire, frozen=True, kw_only=True):
    """A webhook that may refuse requests."""

    name: str = ""
    """The name of the webhook, a domain of at least three parts."""
    client_config: WebhookClientConfig = msgspec.field(default_factory=WebhookClientConfig)
    """The address of the webhook."""
    rules: Annotated[tuple[RuleWithOperations, ...], Rule(list_type="atomic", nullable=True)] = ()
    """The requests that the webhook reviews; one of the rules must match."""
    failure_policy: str | None = None
    """Fail or Ignore: what happens to a request when the webhook fails."""
    match_policy: str | None = None
    """Exact, or Equivalent to match other versions of the same resource too."""
    namespace_selector: LabelSelector | None = None
    """The labels of the namespaces whose objects are reviewed."""
    object_selector: LabelSelector | None = None
    """The labels of the objects that are reviewed, before or after the change."""
    side_effects: str | None = None
    """None, or NoneOnDryRun: whether a call changes anything elsewhere."""
    timeout_seconds: Int32 | None = None
    """The timeout of a call, from 1 to 30 seconds; 10 by default."""
    admission_review_versions: _Texts = ()
    """The versions of AdmissionReview that the webhook reads, the preferred one first."""
    match_conditions: Annotated[tuple[MatchCondition, ...], _BY_NAME] = ()
    """Conditions that must all hold for the webhook to be called."""


class MutatingWebhook(ValidatingWebhook, frozen=True, kw_only=True):
    """A webhook that may change or refuse objects."""

    reinvocation_policy: str | None = None
    """Never, or IfNeeded to call the webhook again after others changed the object."""


class ValidatingWebhookConfiguration(Object, frozen=True, kw_only=True):
    """Webhooks that may refuse requests. They are called in parallel, after all mutating ones."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP,
        version="v1",
        kind="ValidatingWebhookConfiguration",
        plural="validatingwebhookconfigurations",
        namespaced=False,
        categories=_CATEGORIES,
        columns=(AGE,),
    )

    api_version: Literal["admissionregistration.k8s.io/v1"] = always(API_VERSION)
    kind: Literal["ValidatingWebhookConfiguration"] = always("ValidatingWebhookConfiguration")
    webhooks: Annotated[tuple[ValidatingWebhook, ...], _BY_NAME] = ()
    """The webhooks, each with a name of its own."""


class MutatingWebhookConfiguration(Object, frozen=True, kw_only=True):
    """Webhooks that may change or refuse objects. They are called one after the other."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP,
        version="v1",
        kind="MutatingWebhookConfiguration",
        plural="mutatingwebhookconfigurations",
        namespaced=False,
        categories=_CATEGORIES,
        columns=(AGE,),
    )

    api_version: Literal["admissionregistration.k8s.io/v1"] = always(API_VERSION)
    kind: Literal["MutatingWebhookConfiguration"] = always("MutatingWebhookConfiguration")
    webhooks: Annotated[tuple[MutatingWebhook, ...], _BY_NAME] = ()
    """The webhooks, each with a name of its own, in the order of their calls."""


class GroupVersionKind(Wire, frozen=True, kw_only=True):
    """A kind in one version."""

    group: str = always("")
    version: str = always("")
    kind: str = always("")


class GroupVersionResource(Wire, frozen=True, kw_only=True):
    """A resource in one version."""

    group: str = always("")
    version: str = always("")
    resource: str = always("")


class AdmissionRequest(Wire, frozen=True, kw_only=True):
    """The request that a webhook reviews.

    ``kind`` and ``resource`` are in the version that the webhook wants, ``request_kind`` and
    ``request_resource`` in the one that the client used.
    """

    uid: str
    kind: GroupVersionKind
    resource: GroupVersionResource
    sub_resource: str = ""
    request_kind: GroupVersionKind
    request_resource: GroupVersionResource
    request_sub_resource: str = ""
    name: str = ""
    namespace: str = ""
    operation: str
    user_info: UserInfo
    object: dict[str, Any] | None = always(None)
    old_object: dict[str, Any] | None = always(None)
    dry_run: bool = always(value=False)
    options: dict[str, Any]


class AdmissionStatus(Wire, frozen=True, kw_only=True):
    """Why a webhook refuses: the parts of a Status that the client receives."""

    message: str = ""
    reason: str = ""
    details: StatusDetails | None = None
    code: int = 0


class AdmissionResponse(Wire, frozen=True, kw_only=True):
    """The response of a webhook. ``patch`` is a JSON patch in base64."""

    uid: str = ""
    allowed: bool = always(value=False)
    status: AdmissionStatus | None = None
    patch: str | None = None
    patch_type: str | None = None
    audit_annotations: dict[str, str] = {}
    warnings: tuple[str, ...] = ()


class AdmissionReview(Wire, frozen=True, kw_only=True):
    """The envelope of both. The version of a response is checked."""

    api_version: str = ""
    kind: str = ""
    request: AdmissionRequest | None = None
    response: AdmissionResponse | None = None
