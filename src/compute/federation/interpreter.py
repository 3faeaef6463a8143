"""How the engine aggregates the status of a copy into the hub's object.

It follows the same rules as the ResourceInterpreterCustomization that Karmada gets for
WorkloadDeployments: the whole status is collected, and the hub's object has the status of the first
cluster. While the cell has written none, the report is empty and the hub's status stays. The cell's
spec is not retained.

The collected status includes the generation of the copy, and the generation of the hub's object from
which the copy was made. The field names are Karmada's.
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from compute.api.compute import WorkloadDeployment
from compute.api.conditions import ConditionType
from compute.api.karmada_work import AggregatedStatusItem
from compute.decide.conditions import is_true
from compute.decide.deployment.rollup import same
from compute.decide.generations import translated
from compute.federation import karmada_keys
from kubekit.api import digits
from kubekit.api.meta import Object
from kubekit.client.client import K

_GENERATION: Final = "generation"
_MADE_FROM: Final = "resourceTemplateGeneration"
HEALTHY: Final = "Healthy"
UNHEALTHY: Final = "Unhealthy"


def reflected(copy: Object) -> dict[str, Any] | None:
    """The status of a copy as it is reported to the hub: empty while the cell has written none.

    None for a kind whose status is not collected.
    """
    if not isinstance(copy, WorkloadDeployment):
        return None
    if copy.status == type(copy.status)():
        return {}
    status: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(copy.status))
    made_from = copy.metadata.annotations.get(karmada_keys.TEMPLATE_GENERATION, "")
    if digits.only(made_from):
        status |= {_GENERATION: copy.metadata.generation, _MADE_FROM: int(made_from)}
    return status


def health(copy: Object) -> str:
    """Whether a copy is healthy. A kind without a health of its own is healthy if it exists."""
    if not isinstance(copy, WorkloadDeployment):
        return HEALTHY
    return HEALTHY if is_true(copy.status.conditions, ConditionType.AVAILABLE) else UNHEALTHY


def aggregated(template: K, items: Sequence[AggregatedStatusItem]) -> K:
    """The hub's object with the status of the first cluster; the same object if nothing changes."""
    if not isinstance(template, WorkloadDeployment) or not items or not items[0].status:
        return template
    reported = items[0].status
    status = msgspec.convert(reported, type(template.status))
    current = (
        reported.get(_GENERATION) == status.observed_generation
        and reported.get(_MADE_FROM) == template.metadata.generation
    )
    status = translated(status, template, current=current)
    if same(template.status, status):
        return template
    return msgspec.structs.replace(template, status=status)
