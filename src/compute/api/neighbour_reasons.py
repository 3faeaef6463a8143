"""Reasons that other components write and we read: neighbouring services, releases of the original.

A reason that we write too is defined once, in `reasons`, with sentences that fit both uses.
"""

from compute.api.reason_types import (
    KnownReason,
    Rank,
    Trait,
    healthy,
    passing,
    platform,
    transient,
    user,
)


class NeighbourReason(KnownReason):
    """A reason that another component sets."""

    # Networks: Network, NetworkBinding, NetworkContext, SubnetClaim, Subnet.
    LOCATION_NOT_AVAILABLE = user(
        "LocationNotAvailable",
        "The project may not use the location that its network is wanted in.",
        "Choose cities that `compute cities` lists, and run `compute deploy NAME --city CITY`.",
    )
    NETWORK_CONTEXT_NOT_READY = passing(
        "NetworkContextNotReady", "The network is not set up in the city yet."
    )
    NETWORK_CONTEXT_READY = healthy("NetworkContextReady", "The network is set up in the city.")
    NOT_PROGRAMMED = passing(
        "NotProgrammed", "The infrastructure has not set up the network or subnet yet."
    )
    PREFIX_ALLOCATED = healthy("PrefixAllocated", "The subnet has its addresses.")
    PROJECT_NAMESPACE_NOT_FOUND = platform(
        "ProjectNamespaceNotFound",
        "The network service cannot find the project's namespace.",
        "Ask the operators of the network whether they know the project.",
    )
    PROJECT_UNRESOLVED = platform(
        "ProjectUnresolved",
        "The network service cannot determine which project asks.",
        "Ask the operators of the platform to restore the labels of the hub's namespace.",
    )
    RANGE_IN_USE = user(
        "RangeInUse",
        "The range of the network was changed while addresses of the old one were in use.",
        "Put the old range back, and use another network for the new one: `compute networks create NETWORK`.",
    )
    RANGE_OCCUPIED = user(
        "RangeOccupied",
        "The addresses that the network asks for are taken.",
        "Use a network with a larger range: `compute networks create NETWORK`.",
    )
    RANGE_UNSUPPORTED = user(
        "RangeUnsupported",
        "The network asks for addresses that cannot be given out.",
        "Give the network another range, or let it choose: `compute networks create NETWORK`.",
    )
    SUBNET_NOT_READY = passing(
        "SubnetNotReady", "The addresses of the network in the city are not ready yet."
    )
    SUBNET_READY = healthy("SubnetReady", "The addresses of the network in the city are ready.")
    UNKNOWN = passing("Unknown", "It has not been reported on yet.")

    # Quota: ResourceRegistration, ResourceGrant, GrantCreationPolicy.
    GRANT_ACTIVE = healthy("GrantActive", "The grant counts towards the project's quota.")
    GRANT_PENDING = transient(
        "GrantPending",
        "The grant does not count towards the project's quota yet.",
        "Wait; `compute quota` shows the limit once it counts.",
    )
    POLICY_DISABLED = platform(
        "PolicyDisabled",
        "New projects are given no quota, because the policy that grants it is switched off.",
        "Ask the operators of the quota service to switch the policy on.",
    )
    POLICY_READY = healthy("PolicyReady", "New projects are given their first quota.")
    REGISTRATION_ACTIVE = healthy("RegistrationActive", "The resource can be claimed.")
    REGISTRATION_NOT_FOUND = platform(
        "RegistrationNotFound",
        "The quota service does not know the resource that is claimed.",
        "Ask the operators of the quota service to register the resource.",
    )
    REGISTRATION_PENDING = transient(
        "RegistrationPending",
        "The resource cannot be claimed yet.",
        "Wait; if it lasts for minutes, run `compute doctor`.",
    )

    # Settings in ConfigMaps, of the services of a world on one machine.
    SETTINGS_INVALID = platform(
        "SettingsInvalid",
        "A setting in a ConfigMap cannot be read; the last good one stays in force.",
        "Correct the key of the ConfigMap that the event names.",
    )

    # Providers: Instances.
    NAME_TAKEN = platform(
        "NameTaken",
        "The cell has an object of the instance's name that is not the platform's.",
        "Ask the operators of the cell to remove the object that the message names.",
        Trait.WARNS,
        rank=Rank.NOT_HOSTED,
    )
    NODE_NOT_READY = platform(
        "NodeNotReady",
        "The node of the instance is not ready or does not report: whether the instance runs is unknown.",
        "Wait; the operators of the cell have to bring the node back, or to remove it once it is off.",
        Trait.WARNS,
        rank=Rank.NOT_HOSTED,
    )

    # Karmada: ResourceBinding, Work, Cluster.
    APPLIED_FAILED = platform(
        "AppliedFailed",
        "The cell refused what the hub sent it.",
        "Read `compute events NAME`, and pass its output on to the operators of the cell.",
    )
    APPLIED_SUCCESSFUL = healthy("AppliedSuccessful", "The cell has applied what the hub sent it.")
    DISPATCHING = healthy("Dispatching", "The hub sends the cell its objects.")
    SUSPEND_DISPATCHING = platform(
        "SuspendDispatching",
        "A policy of the hub holds back everything new for the cell; what runs there keeps running.",
        "Ask the operators of the hub to lift the suspension of the policy.",
    )
    CLUSTER_NOT_REACHABLE = platform(
        "ClusterNotReachable",
        "The hub cannot reach the cell; what runs there keeps running unobserved.",
        "Run `compute cities describe CITY`; the operators of the cell have to restore it.",
    )
    CLUSTER_NOT_READY = platform(
        "ClusterNotReady",
        "The cell answers the hub, but reports that it is not healthy.",
        "Run `compute cities describe CITY`; the operators of the cell have to repair it.",
    )
    CLUSTER_READY = healthy("ClusterReady", "The cell answers the hub and is healthy.")
    CLUSTER_STATUS_UNKNOWN = platform(
        "ClusterStatusUnknown",
        "The hub has received no heartbeat from the cell for a while.",
        "Run `compute cities describe CITY`; the operators of the cell have to restore it.",
    )
    FULLY_APPLIED_FAILED = platform(
        "FullyAppliedFailed",
        "Not every cell has applied what the hub sent it.",
        "Read `compute events NAME`, and pass its output on to the operators of the cell.",
    )
    FULLY_APPLIED_SUCCESS = healthy(
        "FullyAppliedSuccess", "Every cell has applied what the hub sent it."
    )
    NO_CLUSTER_FIT = platform(
        "NoClusterFit",
        "The hub knows no cell that serves the city.",
        "Choose a city that `compute cities` lists as ready, or ask the operators of the cells for one.",
        Trait.NO_CELL,
    )
    SCHEDULER_ERROR = platform(
        "SchedulerError",
        "The hub failed while it chose a cell.",
        "Wait, it tries again; if it lasts, pass `compute events NAME` on to the operators of the hub.",
    )
    STATUS_COLLECTION_FAILED = platform(
        "StatusCollectionFailed",
        "The hub reaches the cell but cannot read its status.",
        "Run `compute cities describe CITY`; the operators of the cell have to repair it.",
    )
    SUCCESS = healthy("Success", "The hub has chosen a cell.")
    UNSCHEDULABLE = platform(
        "Unschedulable",
        "No cell of the city has room for the deployment.",
        "Choose another city that `compute cities` lists as ready, or wait for room.",
        Trait.NO_CELL,
    )

    # Entitlements and projects.
    ACTIVE = healthy("Active", "It is in use.")
    CLEANUP_AWAITING_COMPLETION = transient(
        "CleanupAwaitingCompletion",
        "The project is being removed, and something in it is not removed yet.",
        "Wait; the message names what is left, the cells that have it, and how long they are waited for.",
    )
    CLEANUP_COMPLETE = healthy("CleanupComplete", "Everything in the project has been removed.")
    CLEANUP_STARTED = transient(
        "CleanupStarted",
        "The project is being removed with everything in it.",
        "Wait; the next message names what is left and the cells that have it.",
    )
    ENTITLEMENT_ACTIVE = healthy("EntitlementActive", "The project may use the service.")
    ENTITLEMENT_PENDING_APPROVAL = platform(
        "EntitlementPendingApproval",
        "The project has asked for the service, and it has not been approved or rejected yet.",
        "Wait for the answer; `compute access` shows it.",
    )
    ENTITLEMENT_REJECTED = user(
        "EntitlementRejected",
        "The project may not use the service.",
        "Run `compute access` for the reason, then `compute access request --renew` to ask again.",
    )
    PROJECT_ACTIVE = healthy("ProjectActive", "The project is not suspended.")
    PROJECT_NAME_CONFLICT = user(
        "ProjectNameConflict",
        "Another project has that name, or no plane can have it.",
        "Create the project under another name, and choose it with `compute config use-project NAME`.",
    )
    PROJECT_SUSPENDED = user(
        "ProjectSuspended",
        "The project is suspended: nothing of it runs, and nothing of it is deleted.",
        "Run `compute access` to see why; it continues by itself once the suspension is lifted.",
    )
    SERVICE_NOT_PUBLISHED = platform(
        "ServiceNotPublished",
        "The platform does not offer the service.",
        "Run `compute config view` to check the platform, and ask its operators for the service.",
    )

    # Other releases of the original.
    AMBIGUOUS_SERVING_LOCATION = platform(
        "AmbiguousServingLocation",
        "The cell reports that it serves several locations, so it starts nothing.",
        "Ask the operators of the cell to leave it one ServingLocation.",
    )
    CITY_CODE_MISMATCH = platform(
        "CityCodeMismatch",
        "The deployment was sent to a cell of another city.",
        "Ask the operators of the hub to check the city labels of its cells.",
    )
    INSTANCE_TYPE_DEPRECATED = user(
        "InstanceTypeDeprecated",
        "The instance type will be withdrawn.",
        "Choose another that `compute instance-types` lists, with `compute deploy NAME --instance-type TYPE`.",
    )
    INSTANCE_TYPE_DISABLED = user(
        "InstanceTypeDisabled",
        "The instance type has been withdrawn.",
        "Choose another that `compute instance-types` lists, with `compute deploy NAME --instance-type TYPE`.",
    )
    LOCATION_MISMATCH = platform(
        "LocationMismatch",
        "The deployment was sent to a cell of another location.",
        "Ask the operators of the hub to check the location labels of its cells.",
    )
    PAUSE_FAILED = platform(
        "PauseFailed",
        "The project is suspended, but some of its deployments could not be updated.",
        "Wait, it tries again; if it lasts, report it to the operators of the platform.",
    )
    PROJECT_PAUSED = user(
        "ProjectPaused",
        "The project has been suspended.",
        "Run `compute access` to see why; it continues by itself once the suspension is lifted.",
    )
    PROJECT_RESUMED = healthy("ProjectResumed", "The project's suspension has been lifted.")
    PROVISIONING_INSTANCES = transient(
        "ProvisioningInstances",
        "Instances are being created and none is ready yet.",
        "Wait; `compute instances --workload NAME` shows what each instance waits for.",
    )
    PROVISIONING_NETWORK = passing(
        "ProvisioningNetwork", "The network is being set up in the city."
    )
    RUNNING = healthy("Running", "The instance is running.")
    RUNTIME_CLASS_NOT_SERVED = user(
        "RuntimeClassNotServed",
        "No cell of the city can run the runtime class of the workload.",
        "Choose another city that `compute cities` lists, with `compute deploy NAME --city CITY`.",
        Trait.FROM_ABOVE,
    )
    SCALED = healthy("Scaled", "The number of instances has been changed.")
    SOURCE_NAME_TOO_LONG = user(
        "SourceNameTooLong",
        "The name of a ConfigMap or Secret is too long to be sent to a city.",
        "Give it a name of at most 243 characters, and use it with `compute deploy NAME`.",
    )
    TERMINATING = transient(
        "Terminating",
        "The instance is being removed.",
        "Wait; `compute instances --workload NAME` shows when it is gone.",
    )
