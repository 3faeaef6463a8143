"""Cells that have a copy for which the hub has no Work.

A hub that was restored from a backup, or has lost its data, schedules again. In a city with several
cells it could choose a different cell than before. The object would then run twice.
"""

from collections.abc import Collection, Iterable
from contextlib import suppress

from compute.api import names
from compute.api.karmada_work import TemplateRef
from compute.federation import karmada_keys
from kubekit.api.errors import ApiError
from kubekit.api.meta import Object
from kubekit.runtime.clusters import Cluster


async def holders(
    cells: Iterable[Cluster], kind: type[Object], resource: TemplateRef, among: Collection[str]
) -> tuple[str, ...]:
    """The cells among these that have a copy of an object. For an unreachable cell the cache decides."""
    candidates = [cell for cell in cells if cell.name in among]
    return tuple([cell.name for cell in candidates if await _has(cell, kind, resource)])


async def _has(cell: Cluster, kind: type[Object], resource: TemplateRef) -> bool:
    copy = cell.informers.of(kind).cache.get(resource.namespace, resource.name)
    if copy is None:  # the cache may not be filled yet
        with suppress(ApiError):
            copy = await cell.client.find(kind, resource.name, resource.namespace)
    return copy is not None and not copy.deleting and _is_sent(copy, cell.name)


def _is_sent(copy: Object, cell: str) -> bool:
    """Whether a copy was made from a Work, rather than in the cell."""
    meta, annotations = copy.metadata, copy.metadata.annotations
    written = annotations.get(karmada_keys.WORK_NAMESPACE), annotations.get(karmada_keys.WORK_NAME)
    work = names.work(meta.namespace, meta.name, copy.kind)
    return written == (names.execution_namespace(cell), work)
