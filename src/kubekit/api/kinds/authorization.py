"""authorization.k8s.io/v1: questions about access. Each is asked by creating it."""

from typing import Annotated, ClassVar, Final, Literal

import msgspec

from kubekit.api.meta import Object
from kubekit.api.resource import Resource
from kubekit.api.wire import Rule, Wire, always

GROUP: Final = "authorization.k8s.io"
_API_VERSION: Final = "authorization.k8s.io/v1"


_NULLABLE: Final = Rule(nullable=True)
_Texts = Annotated[tuple[str, ...], Rule(list_type="atomic", nullable=True)]
_Verbs = Annotated[tuple[str, ...], Rule(list_type="atomic")]


class SelectorRequirement(Wire, frozen=True, kw_only=True):
    """One condition of a list on a field or a label."""

    key: str = ""
    """The field or label."""
    operator: str = ""
    """In, NotIn, Exists or DoesNotExist."""
    values: _Texts = ()
    """The values it is compared with."""


class SelectorAttributes(Wire, frozen=True, kw_only=True):
    """The selector of a list, as it was sent or taken apart."""

    raw_selector: str = ""
    """The selector as a query writes it."""
    requirements: Annotated[
        tuple[SelectorRequirement, ...], Rule(list_type="atomic", nullable=True)
    ] = ()
    """The selector's conditions, which must all hold."""


class ResourceAttributes(Wire, frozen=True, kw_only=True):
    """A verb on a resource. An empty name or namespace means all of them."""

    namespace: str = ""
    """The namespace; empty for all of them, and for resources without."""
    verb: str = ""
    """The verb, such as get or list; * is all of them."""
    group: str = ""
    """The group of the resource; * is all of them."""
    version: str = ""
    """The version of the resource; * is all of them."""
    resource: str = ""
    """The resource in the plural; * is all of them."""
    subresource: str = ""
    """The part of the resource, if it is about a part."""
    name: str = ""
    """The name of one object; empty for all of them."""
    field_selector: Annotated[SelectorAttributes | None, _NULLABLE] = None
    """The fields that a list is narrowed by."""
    label_selector: Annotated[SelectorAttributes | None, _NULLABLE] = None
    """The labels that a list is narrowed by."""


class NonResourceAttributes(Wire, frozen=True, kw_only=True):
    """A verb on a path that is no resource."""

    path: str = ""
    """The path."""
    verb: str = ""
    """The verb, which is the method in lower case."""


class SubjectAccessReviewSpec(Wire, frozen=True, kw_only=True):
    """A user, and what the user wants to do. One kind of attributes is set."""

    resource_attributes: Annotated[ResourceAttributes | None, _NULLABLE] = None
    """The verb and the resource to check."""
    non_resource_attributes: Annotated[NonResourceAttributes | None, _NULLABLE] = None
    """The verb and the path to check."""
    user: str = ""
    """The name of the user."""
    groups: _Texts = ()
    """The groups the user is in."""
    extra: Annotated[dict[str, _Texts], _NULLABLE] = {}
    """What else is known of the user."""
    uid: str = ""
    """The uid of the user."""


class SubjectAccessReviewStatus(Wire, frozen=True, kw_only=True):
    """The result. Neither allowed nor denied means that no authorizer had an opinion."""

    allowed: bool = msgspec.field(default_factory=bool)
    """Whether the user is authorized."""
    denied: bool = False
    """Whether an authorizer denied it."""
    reason: str = ""
    """The reason of the decision."""
    evaluation_error: str = ""
    """The error of the evaluation, if any."""


class SubjectAccessReview(Object, frozen=True, kw_only=True):
    """Checks whether a user is authorized."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP,
        version="v1",
        kind="SubjectAccessReview",
        plural="subjectaccessreviews",
        namespaced=False,
    )

    api_version: Literal["authorization.k8s.io/v1"] = always(_API_VERSION)
    kind: Literal["SubjectAccessReview"] = always("SubjectAccessReview")
    spec: Annotated[SubjectAccessReviewSpec, Rule(required=False)]
    """The request to check."""
    status: SubjectAccessReviewStatus = msgspec.field(default_factory=SubjectAccessReviewStatus)
    """The result of the check."""


class LocalSubjectAccessReview(Object, frozen=True, kw_only=True):
    """Checks whether a user is authorized, in the namespace of the review."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP,
        version="v1",
        kind="LocalSubjectAccessReview",
        plural="localsubjectaccessreviews",
    )

    api_version: Literal["authorization.k8s.io/v1"] = always(_API_VERSION)
    kind: Literal["LocalSubjectAccessReview"] = always("LocalSubjectAccessReview")
    spec: Annotated[SubjectAccessReviewSpec, Rule(required=False)]
    """The request to check."""
    status: SubjectAccessReviewStatus = msgspec.field(default_factory=SubjectAccessReviewStatus)
    """The result of the check."""


class SelfSubjectAccessReviewSpec(Wire, frozen=True, kw_only=True):
    """What the caller wants to do. One kind of attributes is set."""

    resource_attributes: Annotated[ResourceAttributes | None, _NULLABLE] = None
    """The verb and the resource to check."""
    non_resource_attributes: Annotated[NonResourceAttributes | None, _NULLABLE] = None
    """The verb and the path to check."""


class SelfSubjectAccessReview(Object, frozen=True, kw_only=True):
    """Checks whether the caller is authorized."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP,
        version="v1",
        kind="SelfSubjectAccessReview",
        plural="selfsubjectaccessreviews",
        namespaced=False,
    )

    api_version: Literal["authorization.k8s.io/v1"] = always(_API_VERSION)
    kind: Literal["SelfSubjectAccessReview"] = always("SelfSubjectAccessReview")
    spec: Annotated[SelfSubjectAccessReviewSpec, Rule(required=False)]
    """The request to check."""
    status: SubjectAccessReviewStatus = msgspec.field(default_factory=SubjectAccessReviewStatus)
    """The result of the check."""


class SelfSubjectRulesReviewSpec(Wire, frozen=True, kw_only=True):
    """The namespace to check."""

    namespace: str = ""
    """The namespace, which is required."""


class ResourceRule(Wire, frozen=True, kw_only=True):
    """Verbs that the caller may use on these resources."""

    verbs: _Verbs
    """What may be done; * is everything."""
    api_groups: _Texts = ()
    """The groups of the resources; * is all of them."""
    resources: _Texts = ()
    """The resources; * is all of them."""
    resource_names: _Texts = ()
    """The names of the objects, if not all are meant."""


class NonResourceRule(Wire, frozen=True, kw_only=True):
    """Verbs that the caller may use on these paths."""

    verbs: _Verbs
    """What may be done; * is everything."""
    non_resource_urls: _Texts = msgspec.field(default=(), name="nonResourceURLs")
    """The paths; * at the end stands for all that begin so."""


class SubjectRulesReviewStatus(Wire, frozen=True, kw_only=True):
    """What the caller may do; when it is incomplete, there may be more."""

    resource_rules: Annotated[tuple[ResourceRule, ...], Rule(list_type="atomic")] = always(())
    """What may be done to resources."""
    non_resource_rules: Annotated[tuple[NonResourceRule, ...], Rule(list_type="atomic")] = always(
        ()
    )
    """What may be done at paths."""
    incomplete: bool = msgspec.field(default_factory=bool)
    """Whether there may be more."""
    evaluation_error: str = ""
    """The error of the evaluation, if any."""


class SelfSubjectRulesReview(Object, frozen=True, kw_only=True):
    """Lists what the caller is authorized to do."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP,
        version="v1",
        kind="SelfSubjectRulesReview",
        plural="selfsubjectrulesreviews",
        namespaced=False,
    )

    api_version: Literal["authorization.k8s.io/v1"] = always(_API_VERSION)
    kind: Literal["SelfSubjectRulesReview"] = always("SelfSubjectRulesReview")
    spec: Annotated[SelfSubjectRulesReviewSpec, Rule(required=False)]
    """The request to check."""
    status: SubjectRulesReviewStatus = msgspec.field(default_factory=SubjectRulesReviewStatus)
    """The result of the check."""
