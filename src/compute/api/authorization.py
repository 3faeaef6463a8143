"""authorization.k8s.io/v1: questions about access. Each is asked by creating it."""

from typing import ClassVar, Final, Literal

import msgspec

from compute.api.meta import Object
from compute.api.resource import Resource
from compute.api.wire import Wire, always

GROUP: Final = "authorization.k8s.io"
_API_VERSION: Final = "authorization.k8s.io/v1"


class ResourceAttributes(Wire, frozen=True, kw_only=True):
    """A verb on a resource. An empty name or namespace means all of them."""

    namespace: str = ""
    verb: str = ""
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    name: str = ""


class NonResourceAttributes(Wire, frozen=True, kw_only=True):
    """A verb on a path that is no resource."""

    path: str = ""
    verb: str = ""


class SubjectAccessReviewSpec(Wire, frozen=True, kw_only=True):
    """A user, and what the user wants to do. One kind of attributes is set."""

    resource_attributes: ResourceAttributes | None = None
    non_resource_attributes: NonResourceAttributes | None = None
    user: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, tuple[str, ...]] = {}
    uid: str = ""


class SubjectAccessReviewStatus(Wire, frozen=True, kw_only=True):
    """The answer. Neither allowed nor denied means that nobody had an opinion."""

    allowed: bool = msgspec.field(default_factory=bool)
    denied: bool = False
    reason: str = ""
    evaluation_error: str = ""


class SubjectAccessReview(Object, frozen=True, kw_only=True):
    """The question whether a user may do something."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP,
        version="v1",
        kind="SubjectAccessReview",
        plural="subjectaccessreviews",
        namespaced=False,
    )

    api_version: Literal["authorization.k8s.io/v1"] = always(_API_VERSION)
    kind: Literal["SubjectAccessReview"] = always("SubjectAccessReview")
    spec: SubjectAccessReviewSpec
    status: SubjectAccessReviewStatus = msgspec.field(default_factory=SubjectAccessReviewStatus)


class LocalSubjectAccessReview(Object, frozen=True, kw_only=True):
    """The question whether a user may do something in the namespace of the question."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP,
        version="v1",
        kind="LocalSubjectAccessReview",
        plural="localsubjectaccessreviews",
    )

    api_version: Literal["authorization.k8s.io/v1"] = always(_API_VERSION)
    kind: Literal["LocalSubjectAccessReview"] = always("LocalSubjectAccessReview")
    spec: SubjectAccessReviewSpec
    status: SubjectAccessReviewStatus = msgspec.field(default_factory=SubjectAccessReviewStatus)


class SelfSubjectAccessReviewSpec(Wire, frozen=True, kw_only=True):
    """What the caller wants to do. One kind of attributes is set."""

    resource_attributes: ResourceAttributes | None = None
    non_resource_attributes: NonResourceAttributes | None = None


class SelfSubjectAccessReview(Object, frozen=True, kw_only=True):
    """The question whether the caller may do something."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP,
        version="v1",
        kind="SelfSubjectAccessReview",
        plural="selfsubjectaccessreviews",
        namespaced=False,
    )

    api_version: Literal["authorization.k8s.io/v1"] = always(_API_VERSION)
    kind: Literal["SelfSubjectAccessReview"] = always("SelfSubjectAccessReview")
    spec: SelfSubjectAccessReviewSpec
    status: SubjectAccessReviewStatus = msgspec.field(default_factory=SubjectAccessReviewStatus)


class SelfSubjectRulesReviewSpec(Wire, frozen=True, kw_only=True):
    """The namespace that is asked about."""

    namespace: str = ""


class ResourceRule(Wire, frozen=True, kw_only=True):
    """Verbs that the caller may use on these resources."""

    verbs: tuple[str, ...]
    api_groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    resource_names: tuple[str, ...] = ()


class NonResourceRule(Wire, frozen=True, kw_only=True):
    """Verbs that the caller may use on these paths."""

    verbs: tuple[str, ...]
    non_resource_urls: tuple[str, ...] = msgspec.field(default=(), name="nonResourceURLs")


class SubjectRulesReviewStatus(Wire, frozen=True, kw_only=True):
    """What the caller may do; when it is incomplete, there may be more."""

    resource_rules: tuple[ResourceRule, ...] = always(())
    non_resource_rules: tuple[NonResourceRule, ...] = always(())
    incomplete: bool = msgspec.field(default_factory=bool)
    evaluation_error: str = ""


class SelfSubjectRulesReview(Object, frozen=True, kw_only=True):
    """The question what the caller may do at all."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP,
        version="v1",
        kind="SelfSubjectRulesReview",
        plural="selfsubjectrulesreviews",
        namespaced=False,
    )

    api_version: Literal["authorization.k8s.io/v1"] = always(_API_VERSION)
    kind: Literal["SelfSubjectRulesReview"] = always("SelfSubjectRulesReview")
    spec: SelfSubjectRulesReviewSpec
    status: SubjectRulesReviewStatus = msgspec.field(default_factory=SubjectRulesReviewStatus)
