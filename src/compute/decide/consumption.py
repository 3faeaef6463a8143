"""Whether a project may be engaged: it consumes one of our services, by the provider's records.

A project with several records is engaged while one of them is Active. A record that waits for its
approval changes nothing. A project without any record is not engaged, and nothing of it is removed:
the records may only not be written yet.
"""

from collections.abc import Collection, Iterable
from enum import Enum
from typing import Final

from compute.api.services import ServiceConsumer

_ACTIVE: Final = "Active"
_DENIED: Final = "Denied"


class Consumption(Enum):
    """What the records say of one project."""

    ACTIVE = "engage it"
    UNDECIDED = "leave it as it is"
    REVOKED = "disengage it, and remove what it has on the hub"
    NONE = "disengage it"


def consumption(
    project: str, services: Collection[str], consumers: Iterable[ServiceConsumer]
) -> Consumption:
    """The verdict of the records on a project. Without ``services`` a record of any service counts."""
    own = [each for each in consumers if _is_of(each, project, services)]
    if any(each.status.phase == _ACTIVE and not each.deleting for each in own):
        return Consumption.ACTIVE
    if any(each.deleting or each.status.phase == _DENIED for each in own):
        return Consumption.REVOKED
    return Consumption.UNDECIDED if own else Consumption.NONE


def _is_of(consumer: ServiceConsumer, project: str, services: Collection[str]) -> bool:
    spec = consumer.spec
    named = not services or spec.service_ref.name in services
    return named and spec.consumer_project_ref.name == project
