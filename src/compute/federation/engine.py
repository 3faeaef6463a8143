"""The engine as a whole: its controllers, over one hub and its cells.

PropagationPolicy, object --binder--> ResourceBinding --bindings--> Work --execution--> copy
                   status <----------------bindings---------------- Work <--execution-- status

Namespace --namespaces--> a Work for every cell        Cluster: members, heartbeat
"""

from typing import Final

from compute.api.compute import WorkloadDeployment
from compute.api.core import ConfigMap, Secret
from compute.api.meta import Object
from compute.federation import (
    binder,
    bindings,
    execution,
    heartbeat,
    marks,
    members,
    namespaces,
)
from compute.federation.planes import EnginePlanes
from compute.runtime.controller import Controller
from compute.runtime.informers import Parts
from compute.runtime.kit import Kit

KINDS: Final[tuple[type[Object], ...]] = (WorkloadDeployment, ConfigMap, Secret)
# Of the settings and secrets in a cell, the engine needs to see only what it has sent there.
CELL_PARTS: Final[Parts] = dict.fromkeys((ConfigMap, Secret), f"{marks.MANAGED}=true")


def controllers(planes: EnginePlanes, kit: Kit) -> list[Controller]:
    """All controllers of the engine."""
    return [
        members.controller(planes, kit),
        heartbeat.controller(planes, kit),
        namespaces.controller(planes, kit),
        *(binder.controller(kind, planes, kit) for kind in KINDS),
        bindings.controller(KINDS, planes, kit),
        execution.controller(KINDS, planes, kit),
    ]
