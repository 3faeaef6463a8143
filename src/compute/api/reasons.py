"""Every reason of our conditions and events, and the lookup of any other."""

from typing import Final

from compute.api.neighbour_reasons import NeighbourReason
from compute.api.reason_types import (
    NOTHING_TO_DO,
    KnownReason,
    Owner,
    Rank,
    Trait,
    healthy,
    passing,
    platform,
    transient,
    user,
)

__all__ = [
    "NOTHING_TO_DO",
    "KnownReason",
    "NeighbourReason",
    "Owner",
    "Rank",
    "Reason",
    "Trait",
    "describe",
    "has",
]

_NOT_ENOUGH_QUOTA: Final = "Run `compute quota`; lower `compute scale NAME --min N`, delete something, or ask for more quota."


class Reason(KnownReason):
    """A reason that we set."""

    AVAILABLE = healthy("Available", "The instance is running.")
    AVAILABLE_DEPLOYMENT_FOUND = healthy(
        "AvailableDeploymentFound", "At least one city of the placement serves."
    )
    AVAILABLE_PLACEMENT_FOUND = healthy(
        "AvailablePlacementFound", "At least one placement of the workload serves."
    )
    AWAITING_PROPAGATION = passing(
        "AwaitingPropagation",
        "ConfigMaps or Secrets that the template names have not reached the city yet.",
    )
    CITY_AVAILABLE = healthy("CityAvailable", "The city serves, and nothing blocks it.")
    CITY_STUCK = user(
        "CityStuck",
        "A city of the workload is blocked by something that does not pass by itself.",
        "Run `compute status NAME`, which names the cause in each city and the next step.",
    )
    CELL_UNREACHABLE = platform(
        "CellUnreachable",
        "The city's cell has not reported for a while; what runs there keeps running unobserved.",
        "Run `compute cities describe CITY`; the operators of the cell have to restore it.",
        rank=Rank.OVERRIDING,
    )
    CITY_RETURNED = healthy(
        "CityReturned",
        "A city that was withdrawn is offered again; its instances keep running untouched.",
    )
    CITY_WITHDRAWN = user(
        "CityWithdrawn",
        "The project is no longer offered the city; instances there keep running until they are drained.",
        "Name another city in the workload's spec, or ask the operators of the platform to offer it again.",
        Trait.DRAIN,
        rank=Rank.MISSING,
    )
    CONFIGURATION_ERROR = user(
        "ConfigurationError",
        "The instance cannot start as configured: a variable, a key or a mount is wrong.",
        "Correct env, volumes and command of the container with `compute deploy NAME`.",
        Trait.TERMINAL,
        Trait.WARNS,
        rank=Rank.CANNOT_RUN,
    )
    CREATED = healthy("Created", "The workload was observed, and its first revision recorded.")
    DEPLOYMENTS_CREATED = healthy(
        "DeploymentsCreated", "The workload was split into deployments, one for each city."
    )
    DEPLOYMENTS_REMOVED = healthy(
        "DeploymentsRemoved", "Deployments that are no longer wanted are being removed."
    )
    DEPLOYMENT_NAME_TAKEN = transient(
        "DeploymentNameTaken",
        "A deployment that this workload needs still belongs to another workload, or to an earlier one.",
        "Wait for it to be removed; if it stays, delete its workload, or rename this one.",
        rank=Rank.MISSING,
    )
    FAILED = user(
        "Failed",
        "The instance has ended: it was evicted, its node refuses it, or it is not started again.",
        "See `compute events NAME`, then correct the program or run `compute rollout undo NAME`.",
        Trait.TERMINAL,
        rank=Rank.CANNOT_RUN,
    )
    FEDERATED = healthy(
        "Federated", "The deployment is on the hub, which sends it to the city's cell."
    )
    IMAGE_UNAVAILABLE = user(
        "ImageUnavailable",
        "The image cannot be pulled: its name, its tag or the access to it is wrong.",
        "Run `compute deploy NAME --image IMAGE` with an image that exists, or `compute rollout undo NAME`.",
        Trait.TERMINAL,
        Trait.WARNS,
        rank=Rank.CANNOT_RUN,
    )
    INSTANCE_CRASHING = user(
        "InstanceCrashing",
        "The program starts and exits again and again.",
        "See `compute events NAME`, then correct the program or run `compute rollout undo NAME`.",
        Trait.TERMINAL,
        Trait.WARNS,
        rank=Rank.CANNOT_RUN,
    )
    INSTANCE_EDITED = user(
        "InstanceEdited",
        "The spec of the instance was changed by hand in its cell, and is put back to its template.",
        "Change the Workload instead: instances follow its template.",
    )
    INSTANCES_PROVISIONING = transient(
        "InstancesProvisioning",
        "Instances are being created and none is ready yet.",
        "Wait; `compute instances --workload NAME` shows what each instance waits for.",
        Trait.POINTER,
        rank=Rank.ON_ITS_WAY,
    )
    NETWORK_FAILED_TO_CREATE = platform(
        "NetworkFailedToCreate",
        "The network could not be set up in the city.",
        "Read `compute events NAME`, and pass its output on to the operators of the network.",
        Trait.NETWORK_FAILURE,
        Trait.WARNS,
        rank=Rank.NOT_HOSTED,
    )
    NETWORK_NOT_FOUND = user(
        "NetworkNotFound",
        "A network that the template names does not exist in the project.",
        "Run `compute networks create NETWORK`, or `compute deploy NAME --network NETWORK` with another.",
        Trait.STOPS_PLACEMENT,
        Trait.FROM_ABOVE,
        Trait.NETWORK_FAILURE,
        Trait.WARNS,
        rank=Rank.MISSING,
    )
    NETWORK_PROVISIONING = passing(
        "NetworkProvisioning", "The network is being set up in the city."
    )
    NETWORK_TERMINATING = user(
        "NetworkTerminating",
        "A network that the template names is being deleted: what is attached keeps running, nothing new is attached.",
        "Name another network in the template: `compute deploy NAME --network NETWORK`.",
        Trait.STOPS_PLACEMENT,
        Trait.FROM_ABOVE,
        Trait.NETWORK_FAILURE,
        Trait.WARNS,
        rank=Rank.MISSING,
    )
    NO_AVAILABLE_DEPLOYMENTS = transient(
        "NoAvailableDeployments",
        "No city of the placement serves yet.",
        "Run `compute status NAME` to see what each city waits for.",
        Trait.POINTER,
    )
    NO_AVAILABLE_PLACEMENTS = transient(
        "NoAvailablePlacements",
        "No placement of the workload serves yet.",
        "Run `compute status NAME` to see what each city waits for.",
        Trait.POINTER,
    )
    NO_CELL_FOR_CITY = platform(
        "NoCellForCity",
        "No cell serves the city, so nothing runs there.",
        "Choose a city that `compute cities` lists as ready, or ask the operators of the cells for one.",
        Trait.FROM_ABOVE,
        rank=Rank.NOT_HOSTED,
    )
    NO_MATCHING_LOCATION = platform(
        "NoMatchingLocation",
        "The cell has no Location for the city, so the network cannot be set up there.",
        "Ask the operators of the cell to register a Location with the city's code.",
    )
    NO_MATCHING_LOCATIONS = user(
        "NoMatchingLocations",
        "The project may not use the cities that the placement names.",
        "Choose cities that `compute cities` lists, and run `compute deploy NAME --city CITY`.",
        Trait.STOPS_PLACEMENT,
        rank=Rank.MISSING,
    )
    PAUSED = user(
        "Paused",
        "The rollout is paused: running instances keep the template they have.",
        "Run `compute rollout resume NAME` to continue.",
        Trait.INTENDED,
    )
    PENDING = passing(
        "Pending", "It has not been reconciled yet.", Trait.POINTER, Trait.IN_TURN, Trait.STARTUP
    )
    PENDING_EVALUATION = transient(
        "PendingEvaluation",
        "The quota service has not decided yet.",
        "Wait; if it lasts for minutes, run `compute quota`.",
    )
    PENDING_PROGRAMMING = passing(
        "PendingProgramming",
        "The instance waits for the city's infrastructure to set it up.",
        Trait.STARTUP,
    )
    PENDING_QUOTA = user(
        "PendingQuota",
        "The project has not enough quota left for the instance, so it is not started.",
        _NOT_ENOUGH_QUOTA,
        Trait.POINTER,
    )
    PROGRAMMED = healthy("Programmed", "The infrastructure has set it up.")
    PROGRAMMING_IN_PROGRESS = passing(
        "ProgrammingInProgress", "The infrastructure is setting it up."
    )
    PROPAGATION_SUSPENDED = platform(
        "PropagationSuspended",
        "An operator of the hub holds back changes for the city; what runs there keeps running.",
        "Ask the operators of the platform to lift the suspension; changes are applied then.",
        rank=Rank.NOT_HOSTED,
    )
    PROVISIONING = passing("Provisioning", "It is being set up.", rank=Rank.ON_ITS_WAY)
    QUOTA_AVAILABLE = healthy("QuotaAvailable", "The quota is granted.")
    QUOTA_BACKEND_UNAVAILABLE = platform(
        "QuotaBackendUnavailable",
        "The quota service has not answered for ten seconds; what runs keeps running, nothing new is started.",
        "Wait, the request is repeated; if it lasts, report it to the operators of the quota service.",
    )
    QUOTA_CLAIM_ORPHANED = platform(
        "QuotaClaimOrphaned",
        "The claim of a removed instance could not be found again and may still count.",
        "Ask the operators of the quota service to delete the ResourceClaim that the event names.",
    )
    QUOTA_CLAIM_RELEASED = healthy(
        "QuotaClaimReleased", "A claim that no instance needs any more was released."
    )
    QUOTA_DISABLED = healthy("QuotaDisabled", "Quota is not enforced here.")
    QUOTA_EXCEEDED = user(
        "QuotaExceeded",
        "The project has not enough quota left for the instance.",
        _NOT_ENOUGH_QUOTA,
        Trait.LACK_OF_BUDGET,
        Trait.DENIAL,
    )
    QUOTA_MISCONFIGURED = platform(
        "QuotaMisconfigured",
        "The quota service refuses claims of this kind, or the manager may not create them.",
        "Ask the operators of the quota service to check its registrations and the manager's rights.",
    )
    QUOTA_NAMESPACE_NOT_FOUND = platform(
        "QuotaNamespaceNotFound",
        "The namespace for the claim does not exist in the project.",
        "Ask the operators of the platform why the project lacks the namespace.",
    )
    QUOTA_NO_BUDGET = user(
        "QuotaNoBudget",
        "The project has not enough quota left for the instance, or no grant at all.",
        _NOT_ENOUGH_QUOTA,
        Trait.LACK_OF_BUDGET,
    )
    QUOTA_NOT_GRANTED = user(
        "QuotaNotGranted",
        "The project has not enough quota left for instances in the city, which are not started.",
        _NOT_ENOUGH_QUOTA,
        Trait.POINTER,
    )
    QUOTA_PROJECT_ID_UNRESOLVABLE = platform(
        "QuotaProjectIDUnresolvable",
        "The cell cannot determine which project the instance belongs to.",
        "Ask the operators of the cell to restore the labels of the instance's namespace.",
    )
    QUOTA_PROJECT_NOT_FOUND = platform(
        "QuotaProjectNotFound",
        "The quota service does not know the project.",
        "Ask the operators of the platform whether the project still exists.",
    )
    REFUSED_BY_CELL = platform(
        "RefusedByCell",
        "The city's cell does not take the deployment: it conflicts with another, or is not valid there.",
        "Pass the message on to the operators of the cell; the deployment is sent again every few minutes.",
        Trait.FROM_ABOVE,
        rank=Rank.NOT_HOSTED,
    )
    READY = healthy("Ready", "It is ready for use.")
    REFERENCED_DATA_NOT_READY = passing(
        "ReferencedDataNotReady",
        "ConfigMaps or Secrets that the template names are not in the city yet.",
        Trait.POINTER,
    )
    REPLACED = healthy("Replaced", "What replaces it serves, so it is removed.")
    REPLACEMENT_LACKS_QUOTA = user(
        "ReplacementLacksQuota",
        "The quota does not allow old and new at once: one instance is replaced after the other.",
        "Wait; run `compute quota` and ask for more if the capacity that is missing meanwhile matters.",
    )
    REPLACEMENT_PENDING = passing(
        "ReplacementPending",
        "The workload's spec no longer names it; it keeps running until what replaces it serves.",
        Trait.DRAIN,
    )
    REPLACEMENT_TIMED_OUT = user(
        "ReplacementTimedOut",
        "What replaces it made no progress for too long; it was removed anyway.",
        "Read what the new deployment waits for, or name the former city or placement again.",
    )
    REPLICAS_AVAILABLE = healthy(
        "ReplicasAvailable",
        "Nothing holds the replicas back; it does not mean that they are ready.",
    )
    RESOLVING = passing(
        "Resolving", "The ConfigMaps and Secrets that the template names are being looked up."
    )
    RESUMED = healthy("Resumed", "Template changes are not held back any more.")
    ROLLOUT_FINISHED = healthy(
        "RolloutFinished", "Every city serves the newest revision, and nothing else."
    )
    ROLLOUT_STARTED = healthy(
        "RolloutStarted", "The template has changed, and instances are being replaced."
    )
    SCHEDULING_GATES_PRESENT = transient(
        "SchedulingGatesPresent",
        "The instance may not start before its network, quota or data is there.",
        "Run `compute instances describe INSTANCE` to see which gate is closed and why.",
        Trait.POINTER,
        Trait.IN_TURN,
        Trait.STARTUP,
    )
    SOURCE_NOT_FOUND = user(
        "SourceNotFound",
        "A ConfigMap or Secret that the template names does not exist.",
        "Create it in the project, or take its name out of the template with `compute deploy NAME`.",
        rank=Rank.CANNOT_RUN,
    )
    SOURCE_TOO_LARGE = user(
        "SourceTooLarge",
        "A ConfigMap or Secret that the template names is too large to be sent to a city.",
        "Make it smaller, or put the data into the image and run `compute deploy NAME`.",
        rank=Rank.CANNOT_RUN,
    )
    SOURCE_UNAUTHORIZED = user(
        "SourceUnauthorized",
        "A ConfigMap or Secret that the template names may not be read.",
        "Grant the read in the project, or take its name out of the template with `compute deploy NAME`.",
        rank=Rank.CANNOT_RUN,
    )
    SPEC_CHANGED = healthy("SpecChanged", "The workload has changed, but not its template.")
    STABLE_INSTANCE_FOUND = healthy(
        "StableInstanceFound", "At least one instance in the city is ready."
    )
    STARTING = transient(
        "Starting",
        "The instance is starting.",
        "Wait; `compute events NAME` shows what happens meanwhile.",
    )
    STOPPED = user(
        "Stopped",
        "It does not run: it has ended, or it is scaled to zero.",
        "See `compute events NAME`; run `compute restart NAME`, or `compute scale NAME --min N`.",
        Trait.INTENDED,
    )
    STOPPING = passing("Stopping", "It is shutting down.")
    SUSPENDED = user(
        "Suspended",
        "The project is suspended: nothing of it runs, and nothing of it is deleted.",
        "Run `compute access` to see why; it continues by itself once the suspension is lifted.",
        Trait.STOPS_PLACEMENT,
        Trait.FROM_ABOVE,
        rank=Rank.OVERRIDING,
    )
    UNDONE = healthy("Undone", "The template of an earlier revision was brought back.")
    VALIDATION_FAILED = platform(
        "ValidationFailed",
        "The quota service finds the claim itself invalid.",
        "Ask the operators of the quota service to check its registrations.",
        Trait.DENIAL,
    )
    WITHDRAWN = healthy("Withdrawn", "The deployment has been taken off the hub and its cell.")


_KNOWN: Final[dict[str, KnownReason]] = {
    str(reason): reason for reason in (*NeighbourReason, *Reason)
}


def describe(reason: str) -> KnownReason | None:
    """The definition of a reason, ours or another's; None for an unknown one."""
    return _KNOWN.get(reason)


def has(reason: str, trait: Trait) -> bool:
    """Whether a reason has a trait. An unknown reason has none."""
    known = _KNOWN.get(reason)
    return known is not None and trait in known.traits
