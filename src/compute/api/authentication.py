"""authentication.k8s.io/v1: who is asking. TokenReview reads a token, TokenRequest makes one."""

from datetime import datetime
from typing import ClassVar, Final, Literal

import msgspec

from compute.api.meta import Object
from compute.api.resource import Resource
from compute.api.wire import Wire, always

GROUP: Final = "authentication.k8s.io"
_API_VERSION: Final = "authentication.k8s.io/v1"


class UserInfo(Wire, frozen=True, kw_only=True):
    """Who is asking. ``extra`` carries what the authenticator knew besides."""

    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, tuple[str, ...]] = {}


class TokenReviewSpec(Wire, frozen=True, kw_only=True):
    """A token, and the audiences that it may be meant for."""

    token: str = ""
    audiences: tuple[str, ...] = ()


class TokenReviewStatus(Wire, frozen=True, kw_only=True):
    """The answer; ``audiences`` are those that both sides know."""

    authenticated: bool = False
    user: UserInfo = msgspec.field(default_factory=UserInfo)
    audiences: tuple[str, ...] = ()
    error: str = ""


class TokenReview(Object, frozen=True, kw_only=True):
    """The question whose token this is."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP,
        version="v1",
        kind="TokenReview",
        plural="tokenreviews",
        namespaced=False,
    )

    api_version: Literal["authentication.k8s.io/v1"] = always(_API_VERSION)
    kind: Literal["TokenReview"] = always("TokenReview")
    spec: TokenReviewSpec
    status: TokenReviewStatus = msgspec.field(default_factory=TokenReviewStatus)


class BoundObjectReference(Wire, frozen=True, kw_only=True):
    """The object whose end is the token's end."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""


class TokenRequestSpec(Wire, frozen=True, kw_only=True):
    """A token for these audiences, for so long."""

    audiences: tuple[str, ...] = always(())
    expiration_seconds: int | None = None
    bound_object_ref: BoundObjectReference | None = None


class TokenRequestStatus(Wire, frozen=True, kw_only=True):
    """The token, and when it ends."""

    token: str = ""
    expiration_timestamp: datetime | None = None


class TokenRequest(Object, frozen=True, kw_only=True):
    """A token for a ServiceAccount. It is created at the ServiceAccount's ``token`` subresource."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP, version="v1", kind="TokenRequest", plural="tokenrequests"
    )

    api_version: Literal["authentication.k8s.io/v1"] = always(_API_VERSION)
    kind: Literal["TokenRequest"] = always("TokenRequest")
    spec: TokenRequestSpec = msgspec.field(default_factory=TokenRequestSpec)
    status: TokenRequestStatus = msgspec.field(default_factory=TokenRequestStatus)
