"""Refuses a user's removal of a LocationBinding that Workloads use.

The platform itself may withdraw a city: what runs there is drained after a time of grace.
"""

from collections.abc import Awaitable
from functools import partial

from compute.api import scheme
from compute.api.compute import Workload
from compute.api.networking import LocationBinding
from compute.app.homes import Home
from compute.client.client import Client
from compute.decide import city_use
from compute.plane.local import LocalClient
from compute.plane.plane import Plane
from compute.plane.registry.admission import Attempt
from compute.plane.users import ITSELF


class BindingAdmission:
    """A validating admission plugin on each project's plane."""

    def opened(self, home: Home, plane: Plane) -> None:
        if home.role == "project":
            plane.registry.admission.validating.append(partial(_validate, LocalClient(plane)))

    def closing(self, home: Home, plane: Plane) -> None:
        return


def _validate(client: Client, attempt: Attempt) -> Awaitable[None] | None:
    resource, binding = attempt.kind.resource, LocationBinding.RESOURCE
    is_binding = (resource.group, resource.plural) == (binding.group, binding.plural)
    if not is_binding or attempt.subresource or attempt.old is None or attempt.user == ITSELF:
        return None
    before = scheme.decode_as(LocationBinding, attempt.old)
    after = None
    if attempt.verb != "delete" and attempt.document is not None:
        after = scheme.decode_as(LocationBinding, attempt.document)
    return _refuse(client, before, after)


async def _refuse(client: Client, before: LocationBinding, after: LocationBinding | None) -> None:
    bindings = (await client.every(LocationBinding)).items
    workloads = (await client.every(Workload)).items
    if refusal := city_use.refusal(before, after, bindings, workloads):
        raise refusal
