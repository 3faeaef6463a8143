"""The kinds of the product: ours, those of the platform around it, and Karmada's.

    compute, instance_spec         Workload, WorkloadDeployment, Instance and its spec
    conditions, reasons            every type of condition and every reason that we set
    gates                          the scheduling gates, one row each
    names, labels, annotations, finalizers
                                   every name and key that two planes must spell alike
    networking, quota, services, resource_manager, neighbour_reasons
                                   the kinds and reasons of the services around compute
    karmada, karmada_work          the kinds of Karmada

Importing anything of this package registers all kinds with the registry of kinds.
"""

from typing import Final

from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.karmada import MemberCluster, PropagationPolicy, ResourceInterpreterCustomization
from compute.api.karmada_work import ResourceBinding, Work
from compute.api.networking import (
    Location,
    LocationBinding,
    Network,
    NetworkBinding,
    NetworkContext,
    Subnet,
    SubnetClaim,
)
from compute.api.quota import AllowanceBucket, ResourceClaim, ResourceGrant, ResourceRegistration
from compute.api.resource_manager import Organization, Project
from compute.api.services import ServiceEntitlement
from kubekit.api import scheme
from kubekit.api.meta import Object

COMPUTE_KINDS: Final[tuple[type[Object], ...]] = (Workload, WorkloadDeployment, Instance)
NEIGHBOUR_KINDS: Final[tuple[type[Object], ...]] = (
    Network,
    NetworkBinding,
    NetworkContext,
    SubnetClaim,
    Subnet,
    Location,
    LocationBinding,
    ResourceRegistration,
    ResourceGrant,
    ResourceClaim,
    AllowanceBucket,
    ServiceEntitlement,
    Project,
    Organization,
)
KARMADA_KINDS: Final[tuple[type[Object], ...]] = (
    MemberCluster,
    PropagationPolicy,
    ResourceInterpreterCustomization,
    ResourceBinding,
    Work,
)

scheme.register(*COMPUTE_KINDS, *NEIGHBOUR_KINDS, *KARMADA_KINDS)
