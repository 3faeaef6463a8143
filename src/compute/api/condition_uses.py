"""Which objects have which conditions, and the reasons that each condition usually has there.

It is for people who look a word up; no decision depends on it. A provider or a later release may set
further reasons.
"""

from typing import Final, NamedTuple


class ConditionUse(NamedTuple):
    """A type of condition on one kind of object, and its reasons."""

    condition: str
    on: str
    reasons: tuple[str, ...]


def _use(condition: str, on: str, reasons: str) -> ConditionUse:
    return ConditionUse(condition, on, tuple(reasons.split()))


_REFERENCED_DATA: Final = (
    "Ready Resolving AwaitingPropagation SourceNotFound SourceUnauthorized SourceTooLarge "
    "SourceNameTooLong"
)
_RUNTIME_FAULTS: Final = (
    "ImageUnavailable InstanceCrashing ConfigurationError NameTaken NodeNotReady PendingQuota"
)

USES: Final = (
    _use(
        "Available",
        "Instance",
        f"Available Running Pending Starting Provisioning Stopping Stopped Suspended Failed "
        f"Terminating {_RUNTIME_FAULTS}",
    ),
    _use(
        "Available",
        "WorkloadDeployment",
        "StableInstanceFound InstancesProvisioning ProvisioningInstances NetworkProvisioning "
        "ProvisioningNetwork NetworkNotFound NetworkFailedToCreate NoMatchingLocation "
        "LocationNotAvailable LocationMismatch CityCodeMismatch AmbiguousServingLocation "
        "ProjectUnresolved QuotaNotGranted PendingQuota QuotaNoBudget QuotaBackendUnavailable "
        "ReferencedDataNotReady AwaitingPropagation Resolving SourceNotFound SourceTooLarge "
        "SourceUnauthorized RuntimeClassNotServed CellUnreachable NoCellForCity RefusedByCell "
        "Suspended Stopping Stopped",
    ),
    _use(
        "Available",
        "placement of a Workload",
        "AvailableDeploymentFound NoAvailableDeployments NoMatchingLocations",
    ),
    _use(
        "Available",
        "Workload",
        "AvailablePlacementFound NoAvailablePlacements NoMatchingLocations NetworkNotFound "
        "NetworkTerminating DeploymentNameTaken RuntimeClassNotServed InstanceTypeDeprecated "
        "InstanceTypeDisabled Suspended",
    ),
    _use("Available", "LocationBinding", "Ready CellUnreachable Pending"),
    _use(
        "DrainScheduled",
        "WorkloadDeployment",
        "CityWithdrawn ReplacementPending ReplacementLacksQuota",
    ),
    _use("DrainScheduled", "Workload", "CityWithdrawn ReplacementPending"),
    _use("Paused", "Workload", "Paused"),
    _use("Paused", "WorkloadDeployment", "Paused PropagationSuspended"),
    _use(
        "Programmed",
        "Instance",
        f"Programmed Pending PendingProgramming ProgrammingInProgress {_RUNTIME_FAULTS}",
    ),
    _use(
        "Programmed",
        "NetworkContext, SubnetClaim, Subnet",
        "Programmed NotProgrammed ProgrammingInProgress Pending",
    ),
    _use(
        "QuotaGranted",
        "Instance",
        "QuotaAvailable QuotaDisabled PendingEvaluation QuotaExceeded QuotaNoBudget "
        "ValidationFailed QuotaBackendUnavailable QuotaMisconfigured QuotaNamespaceNotFound "
        "QuotaProjectIDUnresolvable QuotaProjectNotFound",
    ),
    _use(
        "Ready",
        "Instance",
        "Available SchedulingGatesPresent PendingProgramming Pending Provisioning "
        f"NetworkFailedToCreate {_RUNTIME_FAULTS}",
    ),
    _use(
        "Ready",
        "NetworkBinding, NetworkContext, SubnetClaim, Subnet",
        "Ready NetworkContextReady NetworkContextNotReady NetworkNotFound NetworkFailedToCreate "
        "NetworkTerminating ProjectUnresolved ProjectNamespaceNotFound LocationNotAvailable "
        "SubnetReady SubnetNotReady PrefixAllocated Pending Unknown",
    ),
    _use("Ready", "Network", "Ready NetworkTerminating RangeInUse RangeUnsupported Unknown"),
    _use(
        "Ready",
        "ServiceEntitlement",
        "EntitlementActive EntitlementPendingApproval EntitlementRejected ServiceNotPublished",
    ),
    _use(
        "Ready",
        "Project",
        "Ready Provisioning ProjectNameConflict CleanupStarted CleanupAwaitingCompletion",
    ),
    _use("Ready", "Location", "Ready"),
    _use(
        "Ready",
        "Cluster",
        "ClusterReady ClusterNotReady ClusterNotReachable ClusterStatusUnknown "
        "StatusCollectionFailed",
    ),
    _use("ReferencedDataReady", "WorkloadDeployment", _REFERENCED_DATA),
    _use("ReferencedDataReady", "Instance", _REFERENCED_DATA),
    _use(
        "ReplicasReady",
        "WorkloadDeployment",
        "ReplicasAvailable QuotaExceeded AwaitingPropagation",
    ),
    _use("Accepted", "RuntimeClass", ""),
    _use(
        "Active",
        "ResourceRegistration",
        "RegistrationActive RegistrationPending RegistrationNotFound ValidationFailed",
    ),
    _use("Active", "ResourceGrant", "GrantActive GrantPending ValidationFailed"),
    _use(
        "Allocated",
        "SubnetClaim, Subnet",
        "PrefixAllocated RangeOccupied RangeUnsupported Pending",
    ),
    _use("Applied", "Work", "AppliedSuccessful AppliedFailed"),
    _use("Bound", "NetworkInterfaceClaim", ""),
    _use("Dispatching", "Work", "Dispatching SuspendDispatching"),
    _use("FullyApplied", "ResourceBinding", "FullyAppliedSuccess FullyAppliedFailed"),
    _use(
        "Granted",
        "ResourceClaim",
        "QuotaAvailable PendingEvaluation QuotaExceeded ValidationFailed",
    ),
    _use("IPAMAllocated", "Network", ""),
    _use("Prepared", "NetworkInterface", ""),
    _use("Provisioned", "ServiceEntitlement", ""),
    _use("ResourceCleanup", "Project", "CleanupStarted CleanupAwaitingCompletion CleanupComplete"),
    _use("Running", "Instance", "Running Starting Stopping Stopped"),
    _use(
        "Scheduled",
        "ResourceBinding",
        "Success NoClusterFit Unschedulable SchedulerError QuotaExceeded",
    ),
    _use("Suspended", "ServiceEntitlement, Project", "ProjectSuspended ProjectActive"),
)
