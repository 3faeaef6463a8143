"""Deletes many objects, for a namespace or a definition that is being deleted."""

import asyncio
from collections.abc import Iterable
from typing import Final

from kubekit.api.errors import Conflict, NotFound
from kubekit.client.options import DeleteOptions
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.ownership import meta_of
from kubekit.plane.registry.registry import Registry
from kubekit.plane.store.records import Record

_AT_ONCE: Final = 256


async def delete_objects(
    registry: Registry, content: Iterable[tuple[Kind, Record]]
) -> list[BaseException]:
    """Delete these objects, many at a time so that they share commits; returns the refusals.

    A refusal for one object does not stop the others.
    """
    todo = list(content)
    refusals: list[BaseException] = []
    for start in range(0, len(todo), _AT_ONCE):
        removals = (_remove(registry, *pair) for pair in todo[start : start + _AT_ONCE])
        outcomes = await asyncio.gather(*removals, return_exceptions=True)
        refusals += [outcome for outcome in outcomes if outcome is not None]
    return refusals


async def _remove(registry: Registry, kind: Kind, record: Record) -> None:
    """Delete one object, unless it is already being deleted."""
    meta = meta_of(record)
    if meta.deleting:
        return
    namespace, _, name = record.key.rpartition("/")
    options = DeleteOptions(uid=meta.uid, propagation="Background")
    try:
        await registry.delete(kind, namespace, name, options)
    except (NotFound, Conflict):
        # Ignore an object that is gone or replaced by a new one. Otherwise a webhook refused.
        present = registry.store.find(kind.storage, record.key)
        if present is not None and meta_of(present).uid == meta.uid:
            raise
