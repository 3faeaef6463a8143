import re

import pytest

from compute.api.reasons import NOTHING_TO_DO, NeighbourReason, Owner, Reason, describe

LONGEST_LINE = 120
KNOWN = [*Reason, *NeighbourReason]

# Every command of the command line, with the words that may follow it as a subcommand.
COMMANDS = {
    "access": {"status", "request"},
    "api": set(),
    "apply": set(),
    "cities": {"list", "describe"},
    "completion": {"bash", "zsh", "fish", "powershell"},
    "config": {"view", "use-project", "use-context", "set"},
    "deploy": set(),
    "destroy": set(),
    "diff": set(),
    "doctor": set(),
    "down": set(),
    "events": set(),
    "exec": set(),
    "explain": set(),
    "get": set(),
    "instance-types": {"list", "describe"},
    "instances": {"list", "describe", "delete"},
    "logs": set(),
    "mcp": set(),
    "networks": {"list", "create"},
    "open": set(),
    "quota": set(),
    "reset": set(),
    "restart": set(),
    "rollback": set(),
    "rollout": {"status", "history", "undo", "restart", "pause", "resume", "promote"},
    "scale": set(),
    "shell": set(),
    "status": set(),
    "top": set(),
    "up": {"status"},
    "version": set(),
    "wait": set(),
    "workloads": {"list", "get", "describe", "delete", "edit", "set", "rollout"},
}

SPOKEN_OF = {
    "Instance Programmed": "Pending PendingProgramming ProgrammingInProgress Programmed "
    "PendingQuota ImageUnavailable InstanceCrashing ConfigurationError",
    "Instance Available": "Pending Stopped Starting Stopping Available Running Provisioning "
    "ImageUnavailable InstanceCrashing ConfigurationError PendingQuota Suspended Failed",
    "Instance Ready": "SchedulingGatesPresent PendingProgramming Pending Available PendingQuota "
    "NetworkFailedToCreate Provisioning ImageUnavailable InstanceCrashing ConfigurationError",
    "Instance QuotaGranted": "PendingEvaluation QuotaAvailable QuotaExceeded ValidationFailed "
    "QuotaDisabled QuotaBackendUnavailable QuotaProjectNotFound QuotaNamespaceNotFound "
    "QuotaMisconfigured QuotaProjectIDUnresolvable QuotaNoBudget",
    "ReferencedDataReady": "Resolving AwaitingPropagation SourceNotFound SourceUnauthorized "
    "SourceTooLarge SourceNameTooLong Ready",
    "deployment Available": "StableInstanceFound InstancesProvisioning NetworkProvisioning "
    "NoMatchingLocation QuotaNotGranted PendingQuota ReferencedDataNotReady AwaitingPropagation "
    "Resolving SourceNotFound SourceTooLarge SourceUnauthorized NetworkNotFound "
    "NetworkFailedToCreate CityCodeMismatch LocationMismatch AmbiguousServingLocation "
    "RuntimeClassNotServed ProjectUnresolved LocationNotAvailable",
    "deployment ReplicasReady": "QuotaExceeded AwaitingPropagation ReplicasAvailable",
    "deployment, before federation": "ProvisioningNetwork ProvisioningInstances",
    "placement": "AvailableDeploymentFound NoAvailableDeployments NoMatchingLocations",
    "Workload": "AvailablePlacementFound NoAvailablePlacements RuntimeClassNotServed "
    "NetworkNotFound InstanceTypeDeprecated InstanceTypeDisabled",
    "events": "QuotaClaimOrphaned ProjectPaused ProjectResumed PauseFailed Scaled Terminating "
    "Federated Withdrawn",
    "ours": "Paused CellUnreachable NoCellForCity Suspended",
    "networks": "Pending Unknown Ready NetworkNotFound NetworkContextNotReady NetworkContextReady "
    "NetworkFailedToCreate ProjectUnresolved ProjectNamespaceNotFound LocationNotAvailable "
    "RangeOccupied RangeUnsupported NotProgrammed ProgrammingInProgress Programmed "
    "SubnetNotReady SubnetReady PrefixAllocated",
    "quota": "RegistrationActive RegistrationPending RegistrationNotFound GrantActive "
    "GrantPending ValidationFailed PolicyReady PolicyDisabled QuotaAvailable QuotaExceeded "
    "PendingEvaluation",
    "Karmada": "Success NoClusterFit Unschedulable SchedulerError QuotaExceeded "
    "FullyAppliedSuccess FullyAppliedFailed AppliedSuccessful AppliedFailed ClusterReady "
    "ClusterNotReady ClusterNotReachable ClusterStatusUnknown StatusCollectionFailed",
    "entitlements": "EntitlementActive EntitlementPendingApproval EntitlementRejected "
    "ServiceNotPublished ProjectSuspended ProjectActive Paused Active",
    "projects": "Ready Provisioning ProjectNameConflict Unknown Suspended Active CleanupStarted "
    "CleanupAwaitingCompletion CleanupComplete",
}


@pytest.mark.parametrize("reason", KNOWN)
def test_a_reason_says_what_it_means_who_acts_and_what_to_do(reason):
    """Each of the three is there, as one sentence that fits on one line."""
    assert reason.owner in Owner
    for line in (reason.meaning, reason.next_step):
        assert re.fullmatch(rf"[A-Z][^\n]{{8,{LONGEST_LINE - 2}}}\.", line), line


@pytest.mark.parametrize("reason", KNOWN)
def test_a_next_step_names_only_commands_that_exist(reason):
    """What stands in backticks can be typed: a command, its subcommand, then names and flags."""
    for typed in re.findall(r"`([^`]*)`", reason.next_step):
        program, command, *rest = typed.split()
        assert program == "compute"
        assert command in COMMANDS
        first = next(iter(rest), "")
        assert first in COMMANDS[command] or not first or first.isupper() or first[:2] == "--"


@pytest.mark.parametrize("reason", KNOWN)
def test_a_next_step_is_asked_for_only_when_something_is_wrong(reason):
    """A healthy reason needs no action; every other one needs some."""
    assert reason.healthy == (reason.next_step == NOTHING_TO_DO)
    assert not reason.healthy or reason.owner is Owner.TRANSIENT


@pytest.mark.parametrize("names", SPOKEN_OF.values(), ids=SPOKEN_OF)
def test_every_reason_of_the_api_is_known(names):
    """No reason of an object that we read is left unexplained."""
    assert [name for name in names.split() if describe(name) is None] == []


def test_names_of_members_follow_from_their_reasons():
    """A member is found by writing its reason in capitals, with underscores."""
    spelled = {
        reason.name: re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=D)(?=U)", "_", reason).upper()
        for reason in KNOWN
    }

    assert {name for name, spelling in spelled.items() if name != spelling} == set()


def test_a_reason_is_explained_once():
    """A reason that two components use has one meaning here, else the reported one would be arbitrary."""
    assert len({str(reason) for reason in KNOWN}) == len(KNOWN)


def test_a_reason_is_its_own_text():
    """A reason compares, hashes and prints as the text in conditions."""
    words: list[str] = [Reason.QUOTA_EXCEEDED]

    assert words == ["QuotaExceeded"]
    assert f"{Reason.QUOTA_EXCEEDED}" == "QuotaExceeded"
    assert Reason("QuotaExceeded") is Reason.QUOTA_EXCEEDED
    assert describe("QuotaExceeded") is Reason.QUOTA_EXCEEDED


def test_owners_are_three():
    """A reason shows whether to act, to ask an operator, or to wait."""
    assert [str(owner) for owner in Owner] == ["user", "platform", "transient"]
    assert Reason.IMAGE_UNAVAILABLE.owner is Owner.USER
    assert Reason.QUOTA_BACKEND_UNAVAILABLE.owner is Owner.PLATFORM
    assert Reason.PENDING_EVALUATION.owner is Owner.TRANSIENT


def test_an_unknown_reason_has_no_description():
    """An unknown reason of a provider is not given the meaning of another one."""
    assert describe("SolarFlare") is None
