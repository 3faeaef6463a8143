from dataclasses import replace
from datetime import timedelta

import msgspec
import pytest

from compute.api import finalizers
from compute.api.reasons import Owner, Reason
from compute.decide.explain.checklist import GateStatus
from compute.decide.explain.explanations import Explanation, explain_instance
from kubekit.api.meta import EPOCH
from tests.support.compute.builders import NOW, condition
from tests.support.compute.explain_builders import answer, binding, claim, quota
from tests.support.compute.progress_builders import BROKEN, not_ready, running

OPEN = (GateStatus("Network", open=True), GateStatus("Quota", open=True))
LONG_AGO = NOW - timedelta(minutes=6)


def test_a_ready_instance_is_well():
    """Nothing is asked of anybody when nothing is wrong."""
    assert explain_instance(running(), now=NOW) == Explanation(
        subject="instance/web-home-dfw-0",
        culprit="instance/web-home-dfw-0",
        reason="Available",
        cause="Instance web-home-dfw-0 in DFW is ready.",
        owner=Owner.TRANSIENT,
        next_step="Nothing to do.",
        since=NOW,
        healthy=True,
        gates=OPEN,
    )


def test_an_instance_that_cannot_pull_its_image():
    """The user learns what it means, what the registry said, and what to type."""
    assert explain_instance(running(0, BROKEN), now=NOW) == Explanation(
        subject="instance/web-home-dfw-0",
        culprit="instance/web-home-dfw-0",
        reason="ImageUnavailable",
        cause=(
            "Instance web-home-dfw-0 in DFW is not ready. The image cannot be pulled: its name, "
            "its tag or the access to it is wrong. It says: manifest unknown."
        ),
        owner=Owner.USER,
        next_step=(
            "Run `compute deploy web --image IMAGE` with an image that exists, "
            "or `compute rollout undo web`."
        ),
        since=NOW,
        gates=OPEN,
    )


def test_an_instance_without_quota_is_explained_in_numbers():
    """What it needs, what was refused and why comes from the claim itself."""
    waiting = running(0, not_ready("PendingQuota", "denied"), quota(), gates=("Quota",))
    denied = claim(
        answer("instances", "Granted"),
        answer("vcpus", "Denied", "QuotaExceeded", "1000 wanted, 500 of 40000 left."),
        answer("memory", "Pending"),
    )
    got = explain_instance(waiting, denied, now=NOW)

    assert (got.reason, got.owner) == (Reason.QUOTA_EXCEEDED, Owner.USER)
    assert got.cause == (
        "Instance web-home-dfw-0 in DFW is not ready. "
        "The project has not enough quota left for the instance. "
        "It needs 1 instance, 1 vCPU, 2048 MiB of memory. "
        "vCPUs denied: 1000 wanted, 500 of 40000 left."
    )
    assert got.next_step == (
        "Run `compute quota`; lower `compute scale web --min N`, delete something, or ask for more quota."
    )


def test_what_the_instance_reports_already_is_not_said_twice():
    """Nor that a part waits only for the others."""
    line = "instances: 1 asked for, 0 of 10 left"
    waiting = running(
        0, not_ready("PendingQuota"), quota(message=f"Not enough quota: {line}. Wait")
    )
    pending = claim(
        answer("instances", "Pending", "QuotaExceeded", line),
        answer("vcpus", "Pending", "PendingEvaluation", "It is available"),
    )

    got = explain_instance(waiting, pending, now=NOW)

    assert got.cause.endswith(f"{line}. Wait. It needs 1 instance, 1 vCPU, 2048 MiB of memory.")


def test_a_fault_of_the_quota_service_is_not_called_a_lack_of_quota():
    """Quota that cannot be asked for is the platform's trouble, not the user's budget."""
    waiting = running(
        0, not_ready("PendingQuota"), quota("QuotaBackendUnavailable", "dial timeout")
    )
    got = explain_instance(waiting, now=NOW)

    assert (got.reason, got.owner) == (Reason.QUOTA_BACKEND_UNAVAILABLE, Owner.PLATFORM)
    assert got.cause == (
        "Instance web-home-dfw-0 in DFW is not ready. "
        "The quota service has not answered for ten seconds; what runs keeps running, nothing new is started. "
        "It says: dial timeout."
    )


def test_a_claim_says_nothing_of_an_instance_that_fails_for_another_reason():
    """Numbers of quota beside a broken image would send the reader the wrong way."""
    granted = quota("QuotaAvailable", status="True")
    got = explain_instance(running(0, BROKEN, granted), claim(), now=NOW)

    assert got.cause.endswith("It says: manifest unknown.")


def test_gates_are_a_checklist():
    """Each gate says whether it is open, and if not, what it waits for."""
    waiting = running(
        0,
        not_ready("SchedulingGatesPresent", "Waiting for Network, Quota, ReferencedData, Moon"),
        quota("PendingEvaluation", status="Unknown"),
        condition("ReferencedDataReady", "False", "AwaitingPropagation", "Secret/a", since=NOW),
        gates=("Network", "Quota", "ReferencedData", "Moon"),
    )
    got = explain_instance(waiting, binding=binding("NetworkContextNotReady"), now=NOW)

    assert got.gates == (
        GateStatus("Network", open=False, why="The network is not set up in the city yet."),
        GateStatus("Quota", open=False, why="The quota service has not decided yet."),
        GateStatus("ReferencedData", open=False, why="Secret/a"),
        GateStatus(
            "Moon", open=False, why="The controller that opens this gate is not known here."
        ),
    )


@pytest.mark.parametrize(
    ("known_binding", "why"),
    [
        pytest.param(None, "The network is not ready in the city yet.", id="no binding"),
        pytest.param(
            binding("Ready", status="True"),
            "The network is not ready in the city yet.",
            id="ready",
        ),
        pytest.param(binding("Frozen"), "Frozen", id="unknown reason"),
    ],
)
def test_a_closed_gate_always_says_something(known_binding, why):
    """A gate whose opener is silent, content or cryptic still tells what it is there for."""
    waiting = running(0, not_ready("SchedulingGatesPresent"), gates=("Network",))

    assert explain_instance(waiting, binding=known_binding, now=NOW).gates == (
        GateStatus("Network", open=False, why=why),
        GateStatus("Quota", open=True),
    )


@pytest.mark.parametrize(
    ("instance", "reason"),
    [
        pytest.param(
            running(0, not_ready("SchedulingGatesPresent"), gates=("Network",)),
            "NetworkContextNotReady",
            id="the network behind its gate",
        ),
        pytest.param(
            running(
                0,
                not_ready("SchedulingGatesPresent"),
                quota("PendingEvaluation", status="Unknown"),
                gates=("Quota",),
            ),
            "PendingEvaluation",
            id="the quota behind its gate",
        ),
        pytest.param(
            running(
                0,
                not_ready("SchedulingGatesPresent"),
                quota("QuotaNoBudget", status="Unknown"),
                gates=("Network", "Quota"),
            ),
            "QuotaNoBudget",
            id="the weightier of two gates",
        ),
        pytest.param(
            running(0, not_ready("PendingProgramming"), quota("PendingEvaluation", "", "Unknown")),
            "PendingProgramming",
            id="an open gate's condition is no cause",
        ),
        pytest.param(
            running(
                0,
                not_ready("PendingProgramming"),
                condition("Programmed", "Unknown", "Provisioning", since=NOW),
            ),
            "Provisioning",
            id="a reason of the provider",
        ),
        pytest.param(
            running(0, not_ready("SchedulingGatesPresent"), gates=("Quota",)),
            "SchedulingGatesPresent",
            id="a pointer that points nowhere",
        ),
        pytest.param(
            running(
                0,
                not_ready("SchedulingGatesPresent"),
                quota("QuotaAvailable", status="True"),
                gates=("Quota",),
            ),
            "SchedulingGatesPresent",
            id="a grant that has not opened the gate yet",
        ),
        pytest.param(
            running(0, condition("Programmed", reason="Programmed")), "Pending", id="nothing said"
        ),
    ],
)
def test_an_instance_is_explained_by_what_its_reason_points_at(instance, reason):
    """The condition at the end of the pointers is reported, of several the one of the highest rank."""
    got = explain_instance(instance, binding=binding("NetworkContextNotReady"), now=NOW)

    assert got.reason == reason


def test_an_unknown_reason_is_passed_on():
    """An unknown reason of a provider is shown as it is, with a way to get help."""
    got = explain_instance(running(0, not_ready("SolarFlare", "zone 3\nis out")), now=NOW)

    assert replace(got, gates=()) == Explanation(
        subject="instance/web-home-dfw-0",
        culprit="instance/web-home-dfw-0",
        reason="SolarFlare",
        cause=(
            "Instance web-home-dfw-0 in DFW is not ready. "
            "It gives a reason that is not known here: SolarFlare. It says: zone 3 is out."
        ),
        owner=Owner.PLATFORM,
        next_step=(
            "Read `compute events web`, and pass its output on to the operators of the platform."
        ),
        since=NOW,
    )


@pytest.mark.parametrize(
    ("since", "owner"), [(NOW, Owner.TRANSIENT), (LONG_AGO, Owner.PLATFORM)], ids=["new", "lasting"]
)
def test_a_transient_cause_that_lasts_is_up_to_the_platform(since, owner):
    """A wait of minutes where seconds are usual is up to the platform."""
    waiting = running(0, not_ready("PendingProgramming", since=since), creation_timestamp=LONG_AGO)
    got = explain_instance(waiting, now=NOW)

    assert (got.owner, got.since) == (owner, since)
    assert got.next_step == "Wait; if it lasts for minutes, run `compute doctor web`."


def test_a_cause_that_is_up_to_the_user_stays_so():
    """A broken image stays up to the user, however long it lasts."""
    broken = running(0, not_ready("ImageUnavailable", since=LONG_AGO), creation_timestamp=LONG_AGO)

    assert explain_instance(broken, now=NOW).owner is Owner.USER


def test_a_network_that_is_ready_explains_nothing():
    """Its gate is about to open."""
    waiting = running(0, not_ready("SchedulingGatesPresent"), gates=("Network",))
    got = explain_instance(waiting, binding=binding("NetworkContextReady", status="True"), now=NOW)

    assert got.reason == "SchedulingGatesPresent"


def test_a_condition_from_1970_gives_no_time():
    """Without a time of its own or of its object, an explanation has none."""
    ancient = running(0, not_ready("Provisioning", since=EPOCH), creation_timestamp=None)

    assert explain_instance(ancient, now=NOW).since is None


@pytest.mark.parametrize(
    ("holds", "sentence"),
    [
        pytest.param((), "Nothing holds it any more.", id="nothing"),
        pytest.param(
            (finalizers.CLAIM,),
            "quota.compute.datumapis.com/claim-cleanup holds it: the cell removes it once the machine "
            "has stopped and its quota is released.",
            id="the cell",
        ),
        pytest.param(
            ("unikraft.datumapis.com/finalizer", "acme.test/backup"),
            "unikraft.datumapis.com/finalizer holds it: the provider removes it once the machine has "
            "stopped. acme.test/backup holds it: its controller has to remove it.",
            id="several",
        ),
    ],
)
def test_an_instance_that_is_being_removed_names_its_finalizers(holds, sentence):
    """Every finalizer is named, with who takes it away and when."""
    leaving = running(deletion_timestamp=NOW, finalizers=holds)
    got = explain_instance(leaving, now=NOW)

    assert got.cause == f"Instance web-home-dfw-0 in DFW is being removed. {sentence}"
    assert (got.reason, got.owner, got.since) == ("Terminating", Owner.TRANSIENT, NOW)
    assert got.next_step == ("Wait; `compute instances --workload web` shows when it is gone.")


def test_a_removal_that_takes_minutes_is_stuck():
    """A finalizer that blocks a deletion for long needs action."""
    leaving = running(deletion_timestamp=LONG_AGO, finalizers=(finalizers.CLAIM,))
    got = explain_instance(leaving, now=NOW)

    assert got.owner is Owner.PLATFORM
    assert got.next_step == (
        "Run `compute doctor web`; a finalizer named above has not been removed for minutes."
    )


def test_an_instance_without_labels_is_known_by_its_name():
    """Names join the planes, so an Instance stripped of its labels is still placed."""
    got = explain_instance(running(0, not_ready("Starting"), labels={}), now=NOW)

    assert got.cause == "Instance web-home-dfw-0 in DFW is not ready. The instance is starting."
    assert got.next_step == "Wait; `compute events web` shows what happens meanwhile."


def test_an_instance_without_labels_leaves_the_names_open():
    """Where neither label nor name tells, the reader fills the command in."""
    stray = running(0, not_ready("CellUnreachable"), labels={}, name="stray")
    got = explain_instance(stray, now=NOW)

    assert got.cause.startswith("Instance stray is not ready.")
    assert got.next_step == (
        "Run `compute cities describe CITY`; the operators of the cell have to restore it."
    )


def test_an_instance_without_a_controller_block_has_no_closed_gates():
    """An Instance made by hand waits for nothing that we know of."""
    bare = running(0, not_ready("Starting"))
    spec = msgspec.structs.replace(bare.spec, controller=None)
    got = explain_instance(msgspec.structs.replace(bare, spec=spec), now=NOW)

    assert got.gates == OPEN
