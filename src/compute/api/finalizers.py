"""Finalizers, and who removes them."""

from typing import Final

WORKLOAD: Final = (
    "compute.datumapis.com/workload-controller"  # on Workloads and on cell deployments
)
FEDERATOR: Final = "compute.datumapis.com/federator"  # project deployment: until the hub's is gone
INSTANCE: Final = (
    "compute.datumapis.com/instance-controller"  # written by the original, never by us
)
CLAIM: Final = "quota.compute.datumapis.com/claim-cleanup"  # cell Instance: until its claim is gone
PROJECT: Final = "resourcemanager.miloapis.com/plane"  # Project: until its plane is empty and gone
NETWORK: Final = "networking.datumapis.com/network-controller"  # Network: until it is unused
REFERENCED_DATA: Final = "compute.datumapis.com/referenced-data-controller"  # later releases' own
UNIKRAFT: Final = "unikraft.datumapis.com/finalizer"  # a provider's: until the machine has stopped
SIMULATED: Final = "simulated.compute.datumapis.com/machine"  # the same, of the simulated one
