"""Who has a say in a change: first those who may complete it, then those who may only refuse.

Functions of this process and webhooks are the same here. Most planes have neither for most kinds,
so asking nobody costs next to nothing.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

from kubekit.client.options import PLAIN_WRITE, DeleteOptions, WriteOptions
from kubekit.client.transport import Document
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.users import ITSELF, User


@dataclass(slots=True, kw_only=True)
class Attempt:
    """A change that is about to be made. ``document`` is what will be, ``old`` what was.

    Whoever is asked may add to ``warnings``, which the client is shown. Whoever
    completes the document sets ``changed``: it is judged by its schema once more.
    """

    verb: Literal["create", "update", "delete"]
    kind: Kind
    namespace: str
    name: str
    subresource: str = ""
    document: Document | None = None
    old: Document | None = None
    user: User = ITSELF
    options: WriteOptions | DeleteOptions = PLAIN_WRITE
    warnings: list[str] = field(default_factory=list)
    changed: bool = False

    @property
    def key(self) -> str:
        """Where the store keeps the object."""
        return self.kind.key(self.namespace, self.name)

    @property
    def by_plane(self) -> bool:
        """Whether the plane itself makes the change, not a user."""
        return self.user == ITSELF

    @property
    def dry_run(self) -> bool:
        """Whether nothing comes of it: then whoever is asked must not act on it either."""
        return self.options.dry_run


AdmissionPlugin = Callable[[Attempt], Awaitable[None] | None]
"""Somebody with a say: raises an `ApiError` to refuse."""


@dataclass(slots=True)
class AdmissionChain:
    """Everybody who is asked, in order. Add to the lists or take from them."""

    mutating: list[AdmissionPlugin] = field(default_factory=list)
    validating: list[AdmissionPlugin] = field(default_factory=list)

    async def mutate(self, attempt: Attempt) -> None:
        await _ask(self.mutating, attempt)

    async def validate(self, attempt: Attempt) -> None:
        await _ask(self.validating, attempt)


async def _ask(those: list[AdmissionPlugin], attempt: Attempt) -> None:
    # Others may come or go while somebody is waited for: this change is for those who are there.
    for admit in tuple(those):
        answer = admit(attempt)
        if answer is not None:
            await answer
