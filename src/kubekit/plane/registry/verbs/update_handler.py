"""The verbs update and patch: translates a request into a change of one object."""

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
from kubekit.plane.registry.verbs.update_loop import ObjectChange, UpdateLoop, as_new_object
from kubekit.plane.store.records import Record

# The kinds that an update creates when they are missing, as on a Kubernetes server.
_CREATED_BY_UPDATE: Final = frozenset(
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
        """The object, replaced by the document within the limits of the subresource.

        Some kinds are created by an update when they are missing, unless ``may_create`` raises.
        """
        while True:
            try:
                return await self._write(target, subresource, lambda _: document, by_patch=False)
            except NotFound:
                if (
                    subresource
                    or target.kind.storage not in _CREATED_BY_UPDATE
                    or self._exists(target)
                ):
                    raise
            may_create()
            try:
                return await self._creates.create(target, as_new_object(target, document))
            except AlreadyExists:
                # Another client created it first: update it. Without an object a webhook refused.
                if not self._exists(target):
                    raise

    async def patch(
        self, target: WriteTarget, patch_type: PatchType, patch: object, subresource: str
    ) -> WriteResult:
        """The object, patched within the limits of the subresource."""
        kind = target.kind
        check_plain_patch(target.options)
        patches.check_type(kind, patch_type)
        return await self._write(
            target,
            subresource,
            lambda old: patches.patched(kind, patch_type, old, patch),
            by_patch=True,
        )

    def _exists(self, target: WriteTarget) -> bool:
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
            return await self._updates.run(ObjectChange(target, wanted, subresource, by_patch))
        resource = target.kind.resource

        def scaled(old: Document) -> object:
            scale = wanted(scales.scale_of(resource, old))
            return scales.with_scale(resource, old, scale)

        result = await self._updates.run(
            ObjectChange(target, scaled, "", by_patch, subresource="scale")
        )
        return replace(result, record=scale_record(target.kind, result.record))


def readable_scale(kind: Kind, record: Record) -> Record:
    """The Scale of an object; an object without a replica count has none."""
    resource = kind.resource
    path = resource.scale.spec_path if resource.scale else ""
    if not json_path.compile(path).values(decode(record.data)):
        raise NotFound(f'the spec replicas field "{path}" does not exist')
    return scale_record(kind, record)


def scale_record(kind: Kind, record: Record) -> Record:
    """The Scale of an object, at the object's own revision."""
    scale = scales.scale_of(kind.resource, decode(record.data))
    return Record(record.key, record.revision, encode(scale))
