"""The verb apply (server-side apply): it updates an object, or creates it when it is missing."""

from collections.abc import Callable

from kubekit.api import errors
from kubekit.api.errors import AlreadyExists, BadRequest, UnsupportedMediaType
from kubekit.client.options import PatchType
from kubekit.client.transport import Document
from kubekit.plane.apply.entries import Author
from kubekit.plane.apply.server_side_apply import ApplyResult, applied
from kubekit.plane.registry.context import RegistryContext
from kubekit.plane.registry.encoding import Metadata
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.rules.request_options import check_apply
from kubekit.plane.registry.verbs.create_handler import CreateHandler
from kubekit.plane.registry.verbs.identity_checks import check_name, check_type
from kubekit.plane.registry.verbs.metadata_decoder import receive
from kubekit.plane.registry.verbs.results import WriteResult
from kubekit.plane.registry.verbs.subresources import check_subresource
from kubekit.plane.registry.verbs.targets import WriteTarget
from kubekit.plane.registry.verbs.update_loop import ObjectChange, UpdateLoop, as_new_object

MayCreate = Callable[[], None]
"""Called before an apply creates a missing object; raises to refuse."""


def creation_allowed() -> None:
    """A client that may apply may also create."""


class ApplyHandler:
    """The verb apply of one plane."""

    def __init__(
        self, context: RegistryContext, creates: CreateHandler, updates: UpdateLoop
    ) -> None:
        self._context = context
        self._creates = creates
        self._updates = updates

    async def apply(
        self, target: WriteTarget, config: object, subresource: str, may_create: MayCreate
    ) -> WriteResult:
        """The object with the configuration applied."""
        check_apply(target.options)
        kind = target.kind
        check_subresource(kind, subresource)
        if subresource == "scale":
            accepted = ", ".join(type_ for type_ in PatchType if type_ is not PatchType.APPLY)
            raise UnsupportedMediaType(f"a Scale cannot be applied; send one of {accepted}")
        document = _of_kind(kind, config)
        sent = receive(kind, document).metadata
        if sent.get("name"):
            check_name(target.name, sent)
        change = ObjectChange(
            target,
            lambda old: self._applied(target, old, document, subresource),
            subresource,
            by_patch=True,
        )
        while True:
            if self._context.store.find(kind.storage, target.key) is not None:
                return await self._updates.run(change)
            if subresource:
                raise errors.not_found(kind.resource, target.name)
            may_create()
            _check_whole_name(target, sent)
            result = self._applied(target, None, document, "")
            _check_no_uid(target, sent)
            new = as_new_object(target, result.document)
            try:
                return await self._creates.create(target, new, result.managed_fields)
            except AlreadyExists:
                # Another client created it first: update it. Without an object a webhook refused.
                if self._context.store.find(kind.storage, target.key) is None:
                    raise

    def _applied(
        self, target: WriteTarget, live: Document | None, config: Document, subresource: str
    ) -> ApplyResult:
        kind, options = target.kind, target.options
        author = Author(
            options.field_manager, kind.resource.api_version, self._context.stamp(), subresource
        )
        return applied(kind.shape, live, config, author, force=options.force)


def _of_kind(kind: Kind, config: object) -> Document:
    """The configuration, which must name its type."""
    if isinstance(config, dict):
        sent = (config.get("apiVersion") or "", config.get("kind") or "")
        if sent != (kind.resource.api_version, kind.resource.kind):
            raise BadRequest(f"invalid object type: {sent[0]}, Kind={sent[1]}")
    return check_type(kind, config)


def _check_no_uid(target: WriteTarget, sent: Metadata) -> None:
    """Refuse to create from a configuration that names a uid."""
    if uid := sent.get("uid"):
        why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        raise errors.conflict(target.kind.resource, target.name, why)


def _check_whole_name(target: WriteTarget, sent: Metadata) -> None:
    """An object that does not exist yet needs its whole name."""
    if sent.get("generateName") and not sent.get("name"):
        raise BadRequest("metadata.name: an apply needs the whole name, not a generateName")
    check_name(target.name, sent)
