"""The three writes a decision can ask for.

They hold whole objects, as read and as they should be. Whoever carries one out writes only the
difference, so that fields a newer server knows, and keys that others wrote, stay as they are.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

from kubekit.api.meta import Object

K = TypeVar("K", bound=Object)


@dataclass(frozen=True, slots=True)
class Create(Generic[K]):
    """Make this object."""

    desired: K


@dataclass(frozen=True, slots=True)
class Update(Generic[K]):
    """Make an object what it should be, provided that nobody wrote it since it was read."""

    existing: K
    desired: K


@dataclass(frozen=True, slots=True)
class Delete(Generic[K]):
    """Remove the object with this uid; if ``unchanged``, only while it is at this version too."""

    existing: K
    unchanged: bool = False


Write = Create[K] | Update[K] | Delete[K]


def change(existing: K, desired: K) -> Update[K] | None:
    """The write that makes the one the other; None when they are equal already."""
    return None if existing == desired else Update(existing, desired)
