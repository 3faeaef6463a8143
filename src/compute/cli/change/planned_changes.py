"""The change of one object: as it is on the server, as it is wanted, and how it is computed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from compute.api.compute import Workload
from compute.cli.exits import Exit, Failure
from compute.cli.shell.session import Session
from kubekit.api.errors import NotFound
from kubekit.api.meta import K, Object

Make = Callable[[Object | None], Object]

_MOST_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """An object as it is, None if it is new, and as it is wanted."""

    existing: Object | None
    wanted: Object
    make: Make  # the wanted object, from any version of the existing one

    @property
    def is_change(self) -> bool:
        return self.existing is not self.wanted

    @property
    def title(self) -> str:
        return f"{self.wanted.kind.lower()}/{self.wanted.metadata.name}"


async def existing_object(session: Session, kind: type[K], name: str, namespace: str) -> K | None:
    """The object that a deploy changes; None if it is new. One that is being deleted is a failure."""
    try:
        found = await session.client.get(kind, name, namespace)
    except NotFound as error:
        if error.details and error.details.name:
            return None
        if kind is Workload:
            raise  # the server does not serve compute at all, or has no such project
        resource = kind.RESOURCE
        raise Failure(
            f"the server does not serve {resource.kind} in {resource.api_version}: it is older than "
            "this command, or the kind is not installed; nothing was changed",
            next_step="compute version",
            reason=error.reason,
        ) from error
    if found.deleting:
        raise Failure(
            f"{found.kind.lower()} {name} is being deleted; deploy it once it is gone",
            Exit.CONFLICT,
            next_step=f"compute wait {name} --for deleted" if kind is Workload else "",
        )
    return found


def joined(errors: Sequence[str]) -> str:
    """The first errors as one sentence."""
    more = len(errors) - _MOST_SHOWN
    shown = "; ".join(errors[:_MOST_SHOWN])
    return f"{shown}; and {more} more" if more > 0 else shown
