"""The admission chain: mutating plugins first, then validating plugins.

A plugin is a function of this process, or the webhooks of a plane (`kubekit.plane.admission`). Most
planes have no plugin for most kinds, so an empty chain costs almost nothing.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

from kubekit.client.options import PLAIN_WRITE, DeleteOptions, WriteOptions
from kubekit.client.transport import Document
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.users import PLANE_USER, User


@dataclass(slots=True, kw_only=True)
class Attempt:
    """A write before it is stored. ``document`` is the new object, and ``old`` the stored one.

    A plugin may add to ``warnings``, which the client receives. A plugin that changes the document
    sets ``changed``: it is validated by its schema again.
    """

    verb: Literal["create", "update", "delete"]
    kind: Kind
    namespace: str
    name: str
    subresource: str = ""
    document: Document | None = None
    old: Document | None = None
    user: User = PLANE_USER
    options: WriteOptions | DeleteOptions = PLAIN_WRITE
    warnings: list[str] = field(default_factory=list)
    changed: bool = False

    @property
    def key(self) -> str:
        """The key of the object in the store."""
        return self.kind.key(self.namespace, self.name)

    @property
    def by_plane(self) -> bool:
        """Whether the plane itself makes the change, not a user."""
        return self.user == PLANE_USER

    @property
    def dry_run(self) -> bool:
        """Whether this is a dry run: nothing is stored, and a plugin must have no side effects."""
        return self.options.dry_run


AdmissionPlugin = Callable[[Attempt], Awaitable[None] | None]
"""An admission plugin. It raises an `ApiError` to refuse."""


@dataclass(slots=True)
class AdmissionChain:
    """The plugins of one plane, in order. The lists may be changed at any time."""

    mutating: list[AdmissionPlugin] = field(default_factory=list)
    validating: list[AdmissionPlugin] = field(default_factory=list)

    async def mutate(self, attempt: Attempt) -> None:
        await _admit(self.mutating, attempt)

    async def validate(self, attempt: Attempt) -> None:
        await _admit(self.validating, attempt)


async def _admit(plugins: list[AdmissionPlugin], attempt: Attempt) -> None:
    # The list may change while a plugin runs: this write uses the plugins present at its start.
    for plugin in tuple(plugins):
        pending = plugin(attempt)
        if pending is not None:
            await pending
