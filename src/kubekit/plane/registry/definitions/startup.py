"""Definitions that a plane makes sure of whenever it starts.

Each carries the digest of what it was made from. It is written again only if that has changed, so
that what people change about a definition of ours stays until we change it, too.
"""

import asyncio
import logging
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

import msgspec

from kubekit.api.errors import ApiError, Forbidden, Unavailable
from kubekit.api.kinds.apiextensions import CustomResourceDefinition
from kubekit.api.structural.nodes import Document
from kubekit.client.options import WriteOptions
from kubekit.plane.errors import PlaneError
from kubekit.plane.registry.definitions.definition_kind import STORAGE
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.registry import Registry

DIGEST: Final = "compute.datumapis.com/definition-digest"
_WRITE: Final = WriteOptions(field_manager="compute-plane")
_log: Final = logging.getLogger(__name__)


class DefinitionRefused(PlaneError):
    """A definition that the plane was to start with, and that its own rules refuse."""


async def ensure_definitions(registry: Registry, documents: Sequence[Document]) -> None:
    """Make the definitions that are not there, and renew those that were made from others."""
    if documents:
        resource = CustomResourceDefinition.RESOURCE
        kind = registry.kinds.require(resource.api_version, resource.kind)
        await asyncio.gather(*(_make_sure(registry, kind, document) for document in documents))


async def _make_sure(registry: Registry, kind: Kind, given: Document) -> None:
    name = given["metadata"]["name"]
    written = msgspec.json.encode(given)
    document = msgspec.json.decode(written)
    notes = document["metadata"].setdefault("annotations", {})
    notes[DIGEST] = sha256(written).hexdigest()
    record = registry.store.find(STORAGE, name)
    try:
        if record is None:
            await registry.create(kind, "", document, _WRITE)
            return
        present = msgspec.json.decode(record.data)
        if _is_due(present["metadata"], notes[DIGEST]):
            await registry.update(kind, "", name, _renewed(present, document), _WRITE)
    except (Forbidden, Unavailable) as refusal:
        # A full disk, or a full plane, must not keep out whoever is to make room.
        _log.warning("definition not created", extra={"definition": name, "why": str(refusal)})
    except ApiError as refusal:
        raise DefinitionRefused(str(refusal)) from refusal


def _is_due(metadata: Document, digest: str) -> bool:
    """Whether the definition was made from another one. One that is about to go is let go."""
    if "deletionTimestamp" in metadata:
        return False
    known: str = metadata.get("annotations", {}).get(DIGEST, "")
    return known != digest


def _renewed(present: Document, document: Document) -> Document:
    """The definition, with the labels and annotations of others left as they are."""
    metadata = present["metadata"]
    for part in ("labels", "annotations"):
        if merged := {**metadata.get(part, {}), **document["metadata"].get(part, {})}:
            metadata[part] = merged
    return {**document, "metadata": metadata}
