"""The verbs update and patch: which change of which object a request stands for."""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from kubekit.api.errors import AlreadyExists, NotFound
from kubekit.client.options import PatchType
from kubekit.client.transport import Document
from kubekit.plane.registry import json_path
from kubekit.plane.registry.context import RegistryContext
from kubekit.plane.registry.encoding import decode, encode
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.patch import patches
from kubekit.plane.registry.rules.request_options import check_plain_patch, check_write
from kubekit.plane.registry.verbs import scales
from kubekit.plane.registry.verbs.apply_handler import MayCreate
from kubekit.plane.registry.verbs.create_handler import CreateHandler
from kubekit.plane.registry.verbs.results import WriteResult
from kubekit.plane.registry.verbs.subresources import check_subresource
from kubekit.plane.registry.verbs.targets import WriteTarget
from kubekit.plane.registry.verbs.update_loop import ObjectChange, UpdateLoop, unborn
from kubekit.plane.store.records import Record

# What an update makes where it is not there, as on a Kubernetes server.
_MADE: Final = frozenset(
    {
        "coordination.k8s.io/leases",
        "rbac.authorization.k8s.io/clusterrolebindings",
        "rbac.authorization.k8s.io/clusterroles",
        "rbac.authorization.k8s.io/rolebindings",
        "rbac.authorization.k8s.io/roles",
    }
)


class UpdateHandler:
    """Update and patch of one plane, on objects and on their subresources."""

    def __init__(
        self, context: RegistryContext, updates: UpdateLoop, creates: CreateHandler
    ) -> None:
        self._context = context
        self._updates = updates
        self._creates = creates

    async def update(
        self, target: WriteTarget, document: Document, subresource: str, may_create: MayCreate
    ) -> WriteResult:
        """The object, replaced by the document as far as the subresource reaches.

        Some kinds are made by an update where they are not there, unless ``may_create`` raises.
        """
        while True:
            try:
                return await self._write(target, subresource, lambda _: document, by_patch=False)
            except NotFound:
                if subresource or target.kind.storage not in _MADE or self._is_there(target):
                    raise
            may_create()
            try:
                return await self._creates.create(target, unborn(target, document))
            except AlreadyExists:
                # Somebody was quicker, and it is there to be changed; or this is a webhook's no.
                if not self._is_there(target):
                    raise

    async def patch(
        self, target: WriteTarget, patch_type: PatchType, patch: object, subresource: str
    ) -> WriteResult:
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

    def _is_there(self, target: WriteTarget) -> bool:
        return self._context.store.find(target.kind.storage, target.key) is not None

    async def _write(
        self,
        target: WriteTarget,
        subresource: str,
        wanted: Callable[[Document], object],
        *,
        by_patch: bool,
    ) -> WriteResult:
        check_write(target.options)
        check_subresource(target.kind, subresource)
        if subresource != "scale":
            return await self._updates.carry_out(
                ObjectChange(target, wanted, subresource, by_patch)
            )
        resource = target.kind.resource

        def scaled(old: Document) -> object:
            scale = wanted(scales.scale_of(resource, old))
            return scales.with_scale(resource, old, scale)

        written = await self._updates.carry_out(
            ObjectChange(target, scaled, "", by_patch, door="scale")
        )
        return replace(written, record=scale_record(target.kind, written.record))


def shown_scale(kind: Kind, record: Record) -> Record:
    """The Scale of an object that has one: a number that nobody set is not shown as zero."""
    resource = kind.resource
    path = resource.scale.spec_path if resource.scale else ""
    if not json_path.compile(path).values(decode(record.data)):
        raise NotFound(f'the spec replicas field "{path}" does not exist')
    return scale_record(kind, record)


def scale_record(kind: Kind, record: Record) -> Record:
    """The Scale of an object, at the object's own revision."""
    scale = scales.scale_of(kind.resource, decode(record.data))
    return Record(record.key, record.revision, encode(scale))
