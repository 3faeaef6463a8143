"""A write of the difference between two views, made on the document that the server has.

A view lacks the fields that only a newer server knows. A merge patch sends a list as a whole, so such
fields of its entries, as of a container or a placement, are taken from the document.
"""

from typing import Any

import msgspec

from compute.decide.workload_edits.document_merge import merge_patch, merged
from kubekit.api import scheme
from kubekit.api.errors import Conflict
from kubekit.api.meta import K, Object
from kubekit.client.client import Client
from kubekit.client.options import WriteOptions
from kubekit.client.transport import ResourceLocation


async def patched(client: Client, existing: K, wanted: K, options: WriteOptions) -> K:
    """The object once it is as wanted; a `Conflict` means that it was written since it was read."""
    if wanted == existing:
        return existing
    meta = existing.metadata
    location = ResourceLocation(existing.RESOURCE, meta.namespace, meta.name)
    stored = await client.raw.get(location)
    if stored["metadata"].get("resourceVersion", "") != meta.resource_version:
        raise Conflict("the object has changed since it was read")
    both = merged(_document(existing), _document(wanted), stored).document
    patch: dict[str, Any] = merge_patch(stored, both)
    if not patch:
        return existing
    patch.setdefault("metadata", {})["resourceVersion"] = meta.resource_version
    return await client.merge(type(existing), location, patch, options)


def _document(obj: Object) -> dict[str, object]:
    document: dict[str, object] = msgspec.json.decode(scheme.encode(obj))
    return document
