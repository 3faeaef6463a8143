"""Questions: documents that are created to be answered, and never stored.

A review of access, a review of a token, a request for a token of one service account: each is a
document of a virtual kind. Whoever knows the answers of a kind is entered in `VirtualHandlers.answers`.
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
from kubekit.plane.users import ITSELF, User

_NOBODY: Final = "the server does not allow this method on the requested resource"


@dataclass(slots=True, kw_only=True)
class VirtualRequest:
    """A document to answer, and who asks.

    ``kind`` is what stands in the path: the virtual kind itself, or the kind of the object called
    ``name``, to which the question is put at its ``subresource``. Whoever answers may add warnings.
    """

    kind: Kind
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    document: Document
    user: User = ITSELF
    dry_run: bool = False
    field_validation: FieldValidation = ""
    warnings: list[str] = field(default_factory=list)

    @property
    def form(self) -> Kind:
        """The virtual kind that the document is of."""
        return self.kind.questions[self.subresource] if self.subresource else self.kind


VirtualHandler = Callable[[VirtualRequest], Awaitable[Document] | Document]
"""What answers questions of one kind: the document with its answer. An `ApiError` refuses."""


class VirtualHandlers:
    """Who answers what, by the storage of the kind in the path and the subresource."""

    def __init__(self) -> None:
        self.answers: dict[tuple[str, str], VirtualHandler] = {}

    async def ask(self, question: VirtualRequest) -> Document:
        """The answer, once the document is found to fit its schema."""
        ask = self.answers.get((question.kind.storage, question.subresource))
        if ask is None:
            raise MethodNotAllowed(_NOBODY, StatusDetails())
        question.document = _read(question)
        answer = ask(question)
        return await answer if isawaitable(answer) else answer


def _read(question: VirtualRequest) -> Document:
    """The document, with what its kind does not know left out, and its metadata in its place."""
    form, resource = question.form, question.form.resource
    document = check_type(form, question.document)
    received = receive(form, document)
    check_namespace(form, question.namespace, received.given)
    metadata = dict(received.given)
    metadata.pop("namespace", None)
    if resource.namespaced:
        metadata["namespace"] = question.namespace
    head = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}
    conformed = form.conform({**document, **head})
    question.warnings += warnings_of(form, question.field_validation, received, conformed)
    if conformed.errors:
        raise errors.invalid(resource, metadata.get("name", ""), conformed.errors)
    return conformed.document
