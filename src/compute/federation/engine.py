"""The engine as a whole: its controllers, over one hub and its cells.

PropagationPolicy, object --binder--> ResourceBinding --bindings--> Work --execution--> copy
                   status <----------------bindings---------------- Work <--execution-- status

Namespace --namespaces--> a Work for every cell        Cluster: members, heartbeat
"""

from typing import Final

from compute.api.compute import WorkloadDeployment
from compute.federation import (
    binder,
    bindings,
    execution,
    heartbeat,
    karmada_keys,
    members,
    namespaces,
)
from compute.federation.planes import EnginePlanes
from kubekit.api.kinds.core import ConfigMap, Secret
from kubekit.api.meta import Object
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import Kit
from kubekit.runtime.watching.informers import Parts

KINDS: Final[tuple[type[Object], ...]] = (WorkloadDeployment, ConfigMap, Secret)
# Of the settings and secrets in a cell, the engine needs to see only what it has sent there.
CELL_PARTS: Final[Parts] = dict.fromkeys((ConfigMap, Secret), f"{karmada_keys.MANAGED}=true")


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
