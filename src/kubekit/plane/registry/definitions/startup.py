"""Creates and updates the definitions of this program when a plane starts.

Each has an annotation with the digest of its source. It is updated only if the source has changed,
so that changes by users stay until the program changes the definition too.
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
    """The plane refuses a definition of this program."""


async def ensure_definitions(registry: Registry, documents: Sequence[Document]) -> None:
    """Create the missing definitions, and update those with another source."""
    if documents:
        resource = CustomResourceDefinition.RESOURCE
        kind = registry.kinds.require(resource.api_version, resource.kind)
        await asyncio.gather(*(_ensure(registry, kind, document) for document in documents))


async def _ensure(registry: Registry, kind: Kind, source: Document) -> None:
    name = source["metadata"]["name"]
    encoded = msgspec.json.encode(source)
    document = msgspec.json.decode(encoded)
    annotations = document["metadata"].setdefault("annotations", {})
    annotations[DIGEST] = sha256(encoded).hexdigest()
    record = registry.store.find(STORAGE, name)
    try:
        if record is None:
            await registry.create(kind, "", document, _WRITE)
            return
        present = msgspec.json.decode(record.data)
        if _is_due(present["metadata"], annotations[DIGEST]):
            await registry.update(kind, "", name, _renewed(present, document), _WRITE)
    except (Forbidden, Unavailable) as refusal:
        # With a full disk or quota the plane must still start, so that a client can free space.
        _log.warning("definition not created", extra={"definition": name, "why": str(refusal)})
    except ApiError as refusal:
        raise DefinitionRefused(str(refusal)) from refusal


def _is_due(metadata: Document, digest: str) -> bool:
    """Whether the definition has another source. One that is being deleted is not updated."""
    if "deletionTimestamp" in metadata:
        return False
    stored_digest: str = metadata.get("annotations", {}).get(DIGEST, "")
    return stored_digest != digest


def _renewed(present: Document, document: Document) -> Document:
    """The definition, with the labels and annotations of others unchanged."""
    metadata = present["metadata"]
    for part in ("labels", "annotations"):
        if merged := {**metadata.get(part, {}), **document["metadata"].get(part, {})}:
            metadata[part] = merged
    return {**document, "metadata": metadata}
