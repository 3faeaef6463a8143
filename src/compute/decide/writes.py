"""The three writes that a decision can ask for.

They have whole objects: the existing one as it was read, and the desired one. The caller writes only the difference, so
that fields of newer servers, and keys that others wrote, stay as they are.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

from kubekit.api.meta import Object

K = TypeVar("K", bound=Object)


@dataclass(frozen=True, slots=True)
class Create(Generic[K]):
    """Create this object."""

    desired: K


@dataclass(frozen=True, slots=True)
class Update(Generic[K]):
    """Update an object, provided that it has not changed since it was read."""

    existing: K
    desired: K


@dataclass(frozen=True, slots=True)
class Delete(Generic[K]):
    """Delete the object with this uid; if ``unchanged``, only while it is at this version too."""

    existing: K
    unchanged: bool = False


Write = Create[K] | Update[K] | Delete[K]


def change(existing: K, desired: K) -> Update[K] | None:
    """The write from the existing to the desired object; None when they are equal."""
    return None if existing == desired else Update(existing, desired)
