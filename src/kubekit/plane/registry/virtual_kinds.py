"""Virtual kinds: creating an object returns a response, and stores nothing.

Access reviews, token reviews and token requests are virtual kinds. The handler of each kind is
registered in `VirtualHandlers.handlers`.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import Final

from kubekit.api import errors
from kubekit.api.errors import MethodNotAllowed
from kubekit.api.status import StatusDetails
from kubekit.client.options import FieldValidation
from kubekit.client.transport import Document
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.verbs.identity_checks import check_namespace, check_type
from kubekit.plane.registry.verbs.metadata_decoder import receive
from kubekit.plane.registry.verbs.validation import warnings_of
from kubekit.plane.users import PLANE_USER, User

_NOT_ALLOWED: Final = "the server does not allow this method on the requested resource"


@dataclass(slots=True, kw_only=True)
class VirtualRequest:
    """The create request of a virtual object.

    ``kind`` is the kind in the path: the virtual kind itself, or the kind of the object ``name`` at
    whose ``subresource`` the document is created. The handler may add warnings.
    """

    kind: Kind
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    document: Document
    user: User = PLANE_USER
    dry_run: bool = False
    field_validation: FieldValidation = ""
    warnings: list[str] = field(default_factory=list)

    @property
    def form(self) -> Kind:
        """The virtual kind that the document is of."""
        return self.kind.virtual_subresources[self.subresource] if self.subresource else self.kind


VirtualHandler = Callable[[VirtualRequest], Awaitable[Document] | Document]
"""The handler of one virtual kind: returns the completed document, or raises `ApiError`."""


class VirtualHandlers:
    """The handlers, by the storage of the kind in the path and the subresource."""

    def __init__(self) -> None:
        self.handlers: dict[tuple[str, str], VirtualHandler] = {}

    async def handle(self, request: VirtualRequest) -> Document:
        """Validate the request by its schema, and return the document that its handler completes."""
        handler = self.handlers.get((request.kind.storage, request.subresource))
        if handler is None:
            raise MethodNotAllowed(_NOT_ALLOWED, StatusDetails())
        request.document = _read(request)
        result = handler(request)
        return await result if isawaitable(result) else result


def _read(request: VirtualRequest) -> Document:
    """The document without unknown fields, with the metadata of the request."""
    form, resource = request.form, request.form.resource
    document = check_type(form, request.document)
    received = receive(form, document)
    check_namespace(form, request.namespace, received.metadata)
    metadata = dict(received.metadata)
    metadata.pop("namespace", None)
    if resource.namespaced:
        metadata["namespace"] = request.namespace
    head = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}
    conformed = form.conform({**document, **head})
    request.warnings += warnings_of(form, request.field_validation, received, conformed)
    if conformed.errors:
        raise errors.invalid(resource, metadata.get("name", ""), conformed.errors)
    return conformed.document
