"""Writing what differs, and nothing else.

Each of these reads or is given what is there, and writes the difference: at rest nothing is written.
Maps that others write too, such as labels and annotations, are merged; replacing one once wiped the
key of another controller, and the two wrote against each other for ever.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec

from kubekit.api.errors import AlreadyExists, NotFound
from kubekit.api.meta import Object
from kubekit.client.client import Client

K = TypeVar("K", bound=Object)


async def create_or_patch(client: Client, fresh: K, renewed: Callable[[K], K]) -> K:
    """The object of this name as it should be: made, or brought there from what it is.

    It is read live. ``renewed`` is given what is there, and returns it with its own part changed.
    """
    metadata = fresh.metadata
    present = await client.find(type(fresh), metadata.name, metadata.namespace)
    if present is None:
        try:
            return await client.create(fresh)
        except AlreadyExists:  # somebody was faster, or our own answer was lost
            present = await client.get(type(fresh), metadata.name, metadata.namespace)
    return await client.patch(present, renewed(present))


def merge_maps(present: Mapping[str, str], own: Mapping[str, str | None]) -> dict[str, str]:
    """The map with our keys as we want them and everybody else's as they are. None removes a key."""
    kept = {key: value for key, value in present.items() if key not in own}
    return kept | {key: value for key, value in own.items() if value is not None}


async def add_finalizer(client: Client, obj: K, finalizer: str) -> K:
    """The object with our finalizer on it."""
    if finalizer in obj.metadata.finalizers:
        return obj
    return await _with_finalizers(client, obj, (*obj.metadata.finalizers, finalizer))


async def remove_finalizer(client: Client, obj: K, finalizer: str) -> None:
    """Take our finalizer off. An object that has gone meanwhile was released by somebody."""
    left = tuple(held for held in obj.metadata.finalizers if held != finalizer)
    if left != obj.metadata.finalizers:
        try:
            await _with_finalizers(client, obj, left)
        except NotFound:
            return


async def _with_finalizers(client: Client, obj: K, finalizers: tuple[str, ...]) -> K:
    metadata = msgspec.structs.replace(obj.metadata, finalizers=finalizers)
    return await client.patch(obj, msgspec.structs.replace(obj, metadata=metadata))
