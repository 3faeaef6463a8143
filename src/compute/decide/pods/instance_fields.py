"""Variables whose value is a field of the Instance, or of the Pod that runs it."""

import re
from collections.abc import Mapping
from typing import Final

from compute.api.compute import Instance

# Known only once the Pod runs; the Pod's own fields are those of the Instance.
OF_THE_POD: Final = frozenset(
    {
        "spec.nodeName",
        "spec.serviceAccountName",
        "status.hostIP",
        "status.hostIPs",
        "status.podIP",
        "status.podIPs",
    }
)
_ENTRY: Final = re.compile(r"metadata\.(labels|annotations)\['([^']*)'\]")


def value_of(instance: Instance, path: str) -> str | None:
    """The value of a field of the metadata of an Instance; None for another path.

    The Pod has other labels and annotations than the Instance, and another uid.
    """
    metadata = instance.metadata
    entry = _ENTRY.fullmatch(path)
    if entry is not None:
        entries: Mapping[str, str] = getattr(metadata, entry[1])
        return entries.get(entry[2], "")
    known = {
        "metadata.name": metadata.name,
        "metadata.namespace": metadata.namespace,
        "metadata.uid": metadata.uid,
    }
    return known.get(path)


def is_served(instance: Instance, path: str) -> bool:
    """Whether a variable can have this field as its value."""
    return path in OF_THE_POD or value_of(instance, path) is not None
