"""Removing many objects, whose end somebody else waits for."""

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
    """Delete these objects, many at a time so that they share commits; the refusals.

    An object that may not be deleted does not keep the others.
    """
    todo = list(content)
    refusals: list[BaseException] = []
    for start in range(0, len(todo), _AT_ONCE):
        removals = (_remove(registry, *one) for one in todo[start : start + _AT_ONCE])
        outcomes = await asyncio.gather(*removals, return_exceptions=True)
        refusals += [outcome for outcome in outcomes if outcome is not None]
    return refusals


async def _remove(registry: Registry, kind: Kind, record: Record) -> None:
    """Delete one object, unless that was asked for already and something holds it."""
    meta = meta_of(record)
    if meta.deleting:
        return
    namespace, _, name = record.key.rpartition("/")
    options = DeleteOptions(uid=meta.uid, propagation="Background")
    try:
        await registry.delete(kind, namespace, name, options)
    except (NotFound, Conflict):
        # Gone, or another object by now, whose creation is looked at by itself; or a webhook's no.
        present = registry.store.find(kind.storage, record.key)
        if present is not None and meta_of(present).uid == meta.uid:
            raise
