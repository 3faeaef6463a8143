"""Which objects of a kind an informer watches.

A cluster has other objects of the kind too. What is not watched costs no memory, and needs no
permission: the list of one object is authorized by its name.
"""

from dataclasses import dataclass
from typing import Final

from kubekit.client.options import EVERYTHING, ListOptions


@dataclass(frozen=True, slots=True)
class WatchedPart:
    """The objects of a namespace, or of all, that match the selectors of the options."""

    namespace: str = ""
    options: ListOptions = EVERYTHING


WHOLE: Final = WatchedPart()


def labelled(selector: str) -> WatchedPart:
    """The objects whose labels match, in all namespaces."""
    return WatchedPart(options=ListOptions(label_selector=selector))


def within(namespace: str) -> WatchedPart:
    """The objects of one namespace."""
    return WatchedPart(namespace)


def only(namespace: str, name: str) -> WatchedPart:
    """One object."""
    return WatchedPart(namespace, ListOptions(field_selector=f"metadata.name={name}"))
