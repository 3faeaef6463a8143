"""The engine as a whole: its controllers, over one hub and its cells.

PropagationPolicy, object --binder--> ResourceBinding --bindings--> Work --execution--> copy
                   status <----------------bindings---------------- Work <--execution-- status

Namespace --namespaces--> a Work for every cell        Cluster: members, heartbeat
"""

from datetime import timedelta
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
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.watching.informers import KindSelectors
from kubekit.runtime.watching.watched_part import labelled

KINDS: Final[tuple[type[Object], ...]] = (WorkloadDeployment, ConfigMap, Secret)
# Of the ConfigMaps and Secrets in a cell, the engine watches only the copies that it made.
CELL_SELECTORS: Final[KindSelectors] = dict.fromkeys(
    (ConfigMap, Secret), labelled(f"{karmada_keys.MANAGED}=true")
)


def controllers(
    planes: EnginePlanes,
    factory: ControllerFactory,
    cell_timeout: timedelta = heartbeat.CELL_TIMEOUT,
) -> list[Controller]:
    """All controllers of the engine. A cell that is silent for the timeout is unreachable."""
    return [
        members.controller(planes, factory),
        heartbeat.controller(planes, factory, cell_timeout),
        namespaces.controller(planes, factory),
        *(binder.controller(kind, planes, factory) for kind in KINDS),
        bindings.controller(KINDS, planes, factory),
        execution.controller(KINDS, planes, factory),
    ]
