"""Which cities a project is offered, which Workloads use them, and which must not be removed."""

from collections.abc import Iterable
from typing import Final

from compute.api import labels
from compute.api.compute import Workload
from compute.api.networking import LocationBinding
from compute.decide import joins
from kubekit.api.errors import Forbidden
from kubekit.api.status import StatusDetails

_MOST_NAMED: Final = 5


def offered(bindings: Iterable[LocationBinding]) -> frozenset[str]:
    """The cities that these bindings offer. A binding without a city offers none."""
    return frozenset(filter(None, map(_city, bindings)))


def refusal(
    before: LocationBinding,
    after: LocationBinding | None,
    bindings: Iterable[LocationBinding],
    workloads: Iterable[Workload],
) -> Forbidden | None:
    """Why a user may not delete or change a LocationBinding; None when it is not in use.

    ``after`` is None for a deletion. ``bindings`` are all of the project: a city that another one
    offers too is not lost. A Workload that is being deleted uses nothing.
    """
    others = [each for each in bindings if each.metadata.name != before.metadata.name]
    remaining = offered((*others, *((after,) if after else ())))
    city = _city(before)
    users = [] if city in remaining else _users(city, workloads)
    if not users:
        return None
    resource = LocationBinding.RESOURCE
    name, kind = before.metadata.name, f"{resource.plural}.{resource.group}"
    return Forbidden(
        f'{kind} "{name}" is forbidden: {city} is in use by {_named(users)}. '
        f"Remove {city} from the placements of each, or delete the Workloads, first: "
        f"kubectl edit workload {users[0].metadata.name} -n {users[0].metadata.namespace}",
        StatusDetails(name=name, group=resource.group, kind=resource.plural),
    )


def _city(binding: LocationBinding) -> str:
    return binding.spec.topology.get(labels.TOPOLOGY_CITY_CODE, "")


def _users(city: str, workloads: Iterable[Workload]) -> list[Workload]:
    using = (w for w in workloads if any(city == used for _, used in joins.expected(w)))
    return sorted(using, key=lambda w: (w.metadata.namespace, w.metadata.name))


def _named(users: list[Workload]) -> str:
    named = [f"{w.metadata.namespace}/{w.metadata.name}" for w in users[:_MOST_NAMED]]
    more = len(users) - len(named)
    kind = "Workload" if len(users) == 1 else "Workloads"
    return f"{kind} {', '.join(named)}" + (f" and {more} more" if more else "")
