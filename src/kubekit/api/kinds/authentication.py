"""authentication.k8s.io/v1: who is asking. Each is asked by creating it.

TokenReview reads a token, TokenRequest makes one, SelfSubjectReview tells who asks.
"""

from datetime import datetime
from typing import Annotated, ClassVar, Final, Literal

import msgspec

from kubekit.api.meta import Object
from kubekit.api.resource import Resource
from kubekit.api.wire import Rule, Wire, always

GROUP: Final = "authentication.k8s.io"
_API_VERSION: Final = "authentication.k8s.io/v1"
_NULLABLE: Final = Rule(nullable=True)
_Texts = Annotated[tuple[str, ...], Rule(list_type="atomic", nullable=True)]


class UserInfo(Wire, frozen=True, kw_only=True):
    """The authenticated user. ``extra`` has further attributes from the authenticator."""

    username: str = ""
    """The name."""
    uid: str = ""
    """The identity of the user, which differs from that of a later user of the same name."""
    groups: _Texts = ()
    """The groups that the user is in."""
    extra: Annotated[dict[str, _Texts], _NULLABLE] = {}
    """What else is known of the user."""


class TokenReviewSpec(Wire, frozen=True, kw_only=True):
    """A token, and the audiences that it may be meant for."""

    token: str = ""
    """The token."""
    audiences: _Texts = ()
    """The audiences that the token must be meant for; the plane itself if there are none."""


class TokenReviewStatus(Wire, frozen=True, kw_only=True):
    """The result. ``audiences`` are those of both the review and the token."""

    authenticated: bool = False
    """Whether the token is valid."""
    user: UserInfo = msgspec.field(default_factory=UserInfo)
    """The user that the token belongs to."""
    audiences: _Texts = ()
    """The audiences of the review that the token is meant for."""
    error: str = ""
    """Why it is not valid."""


class TokenReview(Object, frozen=True, kw_only=True):
    """Authenticates a token."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP,
        version="v1",
        kind="TokenReview",
        plural="tokenreviews",
        namespaced=False,
    )

    api_version: Literal["authentication.k8s.io/v1"] = always(_API_VERSION)
    kind: Literal["TokenReview"] = always("TokenReview")
    spec: TokenReviewSpec = msgspec.field(default_factory=TokenReviewSpec)
    """The token to authenticate."""
    status: TokenReviewStatus = msgspec.field(default_factory=TokenReviewStatus)
    """The result."""


class BoundObjectReference(Wire, frozen=True, kw_only=True):
    """The object that the token is bound to: it ends with the object."""

    api_version: str = ""
    """The group and version of the object."""
    kind: str = ""
    """The kind of the object."""
    name: str = ""
    """The name of the object."""
    uid: str = ""
    """The uid of the object, which no other one ever has."""


class TokenRequestSpec(Wire, frozen=True, kw_only=True):
    """A token for these audiences, for so long."""

    audiences: Annotated[tuple[str, ...], Rule(list_type="atomic", nullable=True)] = always(())
    """The audiences of the token; the plane itself if there are none."""
    expiration_seconds: Annotated[int | None, _NULLABLE] = None
    """How long the token is valid; at least ten minutes."""
    bound_object_ref: Annotated[BoundObjectReference | None, _NULLABLE] = None
    """The object that the token is bound to: it ends with the object."""


class TokenRequestStatus(Wire, frozen=True, kw_only=True):
    """The token, and when it ends."""

    token: str = ""
    """The token."""
    expiration_timestamp: datetime | None = None
    """When it ends."""


class TokenRequest(Object, frozen=True, kw_only=True):
    """A token for a ServiceAccount. It is created at the ServiceAccount's ``token`` subresource."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP, version="v1", kind="TokenRequest", plural="tokenrequests"
    )

    api_version: Literal["authentication.k8s.io/v1"] = always(_API_VERSION)
    kind: Literal["TokenRequest"] = always("TokenRequest")
    spec: TokenRequestSpec = msgspec.field(default_factory=TokenRequestSpec)
    """The requested token."""
    status: TokenRequestStatus = msgspec.field(default_factory=TokenRequestStatus)
    """The token."""


class SelfSubjectReviewStatus(Wire, frozen=True, kw_only=True):
    """The result."""

    user_info: UserInfo = msgspec.field(default_factory=UserInfo)
    """The calling user."""


class SelfSubjectReview(Object, frozen=True, kw_only=True):
    """Returns the attributes of the calling user."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP,
        version="v1",
        kind="SelfSubjectReview",
        plural="selfsubjectreviews",
        namespaced=False,
    )

    api_version: Literal["authentication.k8s.io/v1"] = always(_API_VERSION)
    kind: Literal["SelfSubjectReview"] = always("SelfSubjectReview")
    status: SelfSubjectReviewStatus = msgspec.field(default_factory=SelfSubjectReviewStatus)
    """The result."""
