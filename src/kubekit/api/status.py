"""Status: the response of a server if it is not an object, as for every error."""

from typing import ClassVar, Literal

import msgspec

from kubekit.api.meta import ListMeta
from kubekit.api.resource import Resource
from kubekit.api.wire import Wire, always


class StatusCause(Wire, frozen=True, kw_only=True):
    """One field that was wrong."""

    reason: str = ""
    message: str = ""
    field: str = ""


class StatusDetails(Wire, frozen=True, kw_only=True):
    """Which object was meant, and what was wrong with it."""

    name: str = ""
    group: str = ""
    kind: str = ""
    uid: str = ""
    causes: tuple[StatusCause, ...] = ()
    retry_after_seconds: int = 0


class Status(Wire, frozen=True, kw_only=True):
    """The outcome of a request."""

    RESOURCE: ClassVar[Resource] = Resource(
        group="", version="v1", kind="Status", plural="status", namespaced=False
    )

    api_version: Literal["v1"] = always("v1")
    kind: Literal["Status"] = always("Status")
    metadata: ListMeta = msgspec.field(default_factory=ListMeta)
    status: str = ""
    message: str = ""
    reason: str = ""
    details: StatusDetails | None = None
    code: int = 0
