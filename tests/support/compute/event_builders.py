"""Events as controllers write them."""

from datetime import datetime
from typing import Any

from kubekit.api.kinds.core import ObjectReference
from kubekit.api.kinds.events import CoreEvent
from kubekit.api.meta import ObjectMeta
from kubekit.api.times import format_micro, seconds
from tests.support.compute.builders import NOW


def event(
    path: str,
    reason: str = "Created",
    message: str = "It happened",
    *,
    at: datetime = NOW,
    count: int = 1,
    name: str = "",
    version: str = "1",
    warning: bool = False,
    recorded: dict[str, str] | None = None,
    **fields: Any,
) -> CoreEvent:
    """An event about ``Kind/name``. Its own name is also its uid."""
    kind, _, of = path.partition("/")
    own = name or f"{of}.{reason}.{message}"
    known: dict[str, Any] = {
        "reporting_component": "workload",
        "event_time": format_micro(at),
        "first_timestamp": seconds(at),
        "last_timestamp": seconds(at),
    }
    return CoreEvent(
        metadata=ObjectMeta(
            name=own, namespace="default", uid=own, resource_version=version, labels=recorded or {}
        ),
        involved_object=ObjectReference(kind=kind, name=of, namespace="default"),
        type="Warning" if warning else "Normal",
        reason=reason,
        message=message,
        count=count,
        **(known | fields),
    )
