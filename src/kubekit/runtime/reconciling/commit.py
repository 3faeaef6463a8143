"""Writes of the difference between an object and its desired state.

Each function reads or receives the existing object, and writes only what differs. If nothing
differs, nothing is written. Maps with several writers, such as labels and annotations, are merged. A map that is
replaced loses the keys of other controllers, and they would undo each other's writes in turn.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

from kubekit.api.errors import AlreadyExists, NotFound
from kubekit.api.meta import Object, with_metadata
from kubekit.client.client import Client

K = TypeVar("K", bound=Object)


async def create_or_patch(client: Client, fresh: K, renewed: Callable[[K], K]) -> K:
    """Create the object, or patch the existing one of its name.

    The object is read live. ``renewed`` receives the existing object and returns its desired state.
    """
    metadata = fresh.metadata
    present = await client.find(type(fresh), metadata.name, metadata.namespace)
    if present is None:
        try:
            return await client.create(fresh)
        except AlreadyExists:
            # Another writer was faster, or the response to our own create was lost.
            present = await client.get(type(fresh), metadata.name, metadata.namespace)
    return await client.patch(present, renewed(present))


def merge_maps(present: Mapping[str, str], own: Mapping[str, str | None]) -> dict[str, str]:
    """The existing map with our own keys set. None removes a key; other keys stay as they are."""
    others = {key: value for key, value in present.items() if key not in own}
    return others | {key: value for key, value in own.items() if value is not None}


async def add_finalizer(client: Client, obj: K, finalizer: str) -> K:
    """The object with our finalizer."""
    if finalizer in obj.metadata.finalizers:
        return obj
    return await _with_finalizers(client, obj, (*obj.metadata.finalizers, finalizer))


async def remove_finalizer(client: Client, obj: K, finalizer: str) -> None:
    """Remove our finalizer. An object that no longer exists has no finalizer left."""
    remaining = tuple(name for name in obj.metadata.finalizers if name != finalizer)
    if remaining != obj.metadata.finalizers:
        try:
            await _with_finalizers(client, obj, remaining)
        except NotFound:
            return


async def _with_finalizers(client: Client, obj: K, finalizers: tuple[str, ...]) -> K:
    return await client.patch(obj, with_metadata(obj, finalizers=finalizers))
