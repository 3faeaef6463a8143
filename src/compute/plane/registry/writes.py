"""The verbs update and patch: which change of which object a request stands for."""

from collections.abc import Callable

from msgspec.structs import replace

from compute.api.errors import NotFound
from compute.client.options import PatchType
from compute.client.transport import Document
from compute.plane.registry import jsonpath, patches, scales
from compute.plane.registry.encoding import decode, encode
from compute.plane.registry.kinds import Kind
from compute.plane.registry.optionrules import check_plain_patch, check_write
from compute.plane.registry.outcomes import Written
from compute.plane.registry.subresources import check_subresource
from compute.plane.registry.targets import Target
from compute.plane.registry.updates import Change, Updates
from compute.plane.store.records import Record


class Writes:
    """Update and patch of one plane, on objects and on their subresources."""

    def __init__(self, updates: Updates) -> None:
        self._updates = updates

    async def update(self, target: Target, document: Document, subresource: str) -> Written:
        """The object, replaced by the document as far as the subresource reaches."""
        return await self._write(target, subresource, lambda _: document, by_patch=False)

    async def patch(
        self, target: Target, patch_type: PatchType, patch: object, subresource: str
    ) -> Written:
        """The object, changed as the patch says as far as the subresource reaches."""
        kind = target.kind
        check_plain_patch(target.options)
        patches.check_type(kind, patch_type)
        return await self._write(
            target,
            subresource,
            lambda old: patches.patched(kind, patch_type, old, patch),
            by_patch=True,
        )

    async def _write(
        self,
        target: Target,
        subresource: str,
        wanted: Callable[[Document], object],
        *,
        by_patch: bool,
    ) -> Written:
        check_write(target.options)
        check_subresource(target.kind, subresource)
        if subresource != "scale":
            return await self._updates.carry_out(Change(target, wanted, subresource, by_patch))
        resource = target.kind.resource

        def scaled(old: Document) -> object:
            scale = wanted(scales.scale_of(resource, old))
            return scales.with_scale(resource, old, scale)

        written = await self._updates.carry_out(Change(target, scaled, "", by_patch, door="scale"))
        return replace(written, record=scale_record(target.kind, written.record))


def shown_scale(kind: Kind, record: Record) -> Record:
    """The Scale of an object that has one: a number that nobody set is not shown as zero."""
    resource = kind.resource
    path = resource.scale.spec_path if resource.scale else ""
    if not jsonpath.compile(path).values(decode(record.data)):
        raise NotFound(f'the spec replicas field "{path}" does not exist')
    return scale_record(kind, record)


def scale_record(kind: Kind, record: Record) -> Record:
    """The Scale of an object, at the object's own revision."""
    scale = scales.scale_of(kind.resource, decode(record.data))
    return Record(record.key, record.revision, encode(scale))
