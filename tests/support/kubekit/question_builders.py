"""Virtual kinds, which answer requests and are never stored: riddles, and the moods of robots."""

from typing import Any

from kubekit.api.resource import Resource
from kubekit.plane.registry.kinds import Kind, head_of
from kubekit.plane.registry.virtual_kinds import VirtualRequest

Document = dict[str, Any]
SCHEMA = {
    "type": "object",
    "properties": {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object"},
        "spec": {"type": "object", "properties": {"text": {"type": "string", "default": "why"}}},
    },
}


def virtual(name: str, *, namespaced: bool = False) -> Kind:
    """A kind whose create request is answered."""
    resource = Resource(
        group="ask.io", version="v1", kind=name, plural=f"{name.lower()}s", namespaced=namespaced
    )
    return Kind(
        resource=resource, schema=SCHEMA, storage=f"ask.io/{resource.plural}",
        head=head_of(resource), custom=False, virtual=True,
    )  # fmt: skip


def robots() -> Kind:
    """A kind with a virtual subresource, the mood."""
    resource = Resource(group="ask.io", version="v1", kind="Robot", plural="robots")
    return Kind(
        resource=resource, schema=SCHEMA, storage="ask.io/robots", head=head_of(resource),
        virtual_subresources={"mood": virtual("Mood", namespaced=True)},
    )  # fmt: skip


def echo(question: VirtualRequest) -> Document:
    """An answer with the user and the object of the request."""
    return {**question.document, "status": {"asked by": question.user.name, "of": question.name}}
