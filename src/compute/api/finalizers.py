"""Finalizers, and when they are removed."""

from typing import Final

# On Workloads and on the deployments of a cell.
WORKLOAD: Final = "compute.datumapis.com/workload-controller"
FEDERATOR: Final = "compute.datumapis.com/federator"  # project deployment: until the hub's is gone
# Written by the original system, never by us.
INSTANCE: Final = "compute.datumapis.com/instance-controller"
CLAIM: Final = "quota.compute.datumapis.com/claim-cleanup"  # cell Instance: until its claim is gone
PROJECT: Final = "resourcemanager.miloapis.com/plane"  # Project: until its plane is empty and gone
NETWORK: Final = "networking.datumapis.com/network-controller"  # Network: until it is unused
REFERENCED_DATA: Final = "compute.datumapis.com/referenced-data-controller"  # of later releases
UNIKRAFT: Final = "unikraft.datumapis.com/finalizer"  # of a provider: until the machine has stopped
SIMULATED: Final = "simulated.compute.datumapis.com/machine"  # of the simulated provider: the same
PODS: Final = "pods.compute.datumapis.com/pod"  # of the provider of Pods: until its Pod is gone
