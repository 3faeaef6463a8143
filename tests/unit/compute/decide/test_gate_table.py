"""A gate that is added to the table is handled by everything that reads the table."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from compute.api import gates
from compute.api.gates import Gate, GateTable
from compute.api.reasons import Rank, describe
from compute.decide import readiness
from compute.decide.conditions import find
from compute.decide.deployment.rollout import initial_gates, is_at_gates
from compute.decide.deployment.rollup import deployment_status
from compute.decide.explain.explanations import explain_instance
from compute.decide.ranking import rank
from compute.decide.settling import is_settled, report_delay
from tests.support.compute.builders import NOW, condition, deployment, instance

LICENSE = Gate(
    name="License",
    condition="LicenseGranted",
    rank=Rank.QUOTA,
    undecided="LicenseEvaluation",
    reasons=("LicenseExpired", "LicenseExceeded", "PendingLicense", "LicenseNotGranted"),
    waiting="The license service has not answered yet.",
    opened="by the license controller, once there is a license",
    is_initial=True,
    is_service=True,
    denial="PendingLicense",
    reported_first="LicenseExceeded",
    on_deployment={"LicenseExceeded": "LicenseNotGranted"},
)
POWER = Gate(
    name="Power",
    condition="PowerReady",
    rank=Rank.DATA,
    reasons=("PowerMissing",),
    waiting="The rack has no power yet.",
    opened="by the power controller, once the rack has power",
    replicas_reason="PowerMissing",
)
ASKED = condition("LicenseGranted", "Unknown", "LicenseEvaluation", "asking for a license")
GRANTED = condition("LicenseGranted", "True", "LicenseAvailable", generation=1)
DENIED = condition("LicenseGranted", "False", "LicenseExceeded", "no license left")
EXPIRED = condition("LicenseGranted", "False", "LicenseExpired", "the license has expired")
NO_POWER = condition("PowerReady", "False", "PowerMissing", "the rack is dark")
WAITS = condition("Ready", "False", "SchedulingGatesPresent", generation=1)
STARTS = (condition("Programmed"), condition("Available"))


@pytest.fixture(autouse=True)
def table(monkeypatch):
    """The table with two more gates: one that a service answers, one with a plain condition."""
    monkeypatch.setattr(gates, "TABLE", GateTable((*gates.TABLE.gates, LICENSE, POWER)))


def ready(*conditions, closed=()):
    """Status, reason and message of Ready."""
    one = instance(conditions=conditions, gates=closed)
    found = find(readiness.conditions(one, network_failure=None, now=NOW), "Ready")
    assert found is not None
    return found.status, found.reason, found.message


def of_deployment(kind, *instances):
    """Reason and message of a condition of the deployment that has these Instances."""
    status = deployment_status(deployment(len(instances)), instances, None, NOW)
    found = find(status.conditions, kind)
    assert found is not None
    return found.reason, found.message


@pytest.mark.parametrize("gate", [*gates.TABLE.gates, LICENSE, POWER], ids=lambda gate: gate.name)
def test_every_row_of_the_table_is_complete(gate):
    """Each gate names its condition, ranked reasons, a message, and what opens it."""
    assert gate.name
    assert gate.condition
    assert gate.reasons
    assert gate.waiting.endswith(".")
    assert gate.opened.startswith("by ")
    assert {rank(reason) for reason in gate.reasons} == {gate.rank}
    assert rank(gate.undecided or "") == Rank.NONE
    assert gate.denial is None or gate.denial in gate.reasons
    assert gate.replicas_reason is None or gate.replicas_reason in gate.reasons
    assert gate.reported_first is None or gate.reported_first in gate.reasons
    assert gate.on_deployment.keys() <= {*gate.reasons}


def test_every_reason_of_our_gates_is_explained():
    """The table lists no reason that the pages and the command line do not know."""
    ours = [gate for gate in gates.TABLE.gates if gate not in (LICENSE, POWER)]
    listed = [r for gate in ours for r in (*gate.reasons, gate.undecided or gate.reasons[0])]
    assert [reason for reason in listed if describe(reason) is None] == []


def test_a_reason_is_ranked_by_its_gate_or_by_itself():
    """Never by both: one of the two would be overlooked."""
    ranked = [describe(reason) for reason in gates.TABLE.ranks]
    assert [known for known in ranked if known and known.rank] == []


def test_an_initial_gate_is_on_new_instances():
    """A gate that is not initial is not, and the network's only where networks are managed."""
    assert initial_gates(networking=True) == ("Network", "Quota", "License")
    assert initial_gates(networking=False) == ("Quota", "License")


@pytest.mark.parametrize(
    ("conditions", "waits"),
    [((), True), ((ASKED,), True), ((GRANTED,), False), ((DENIED,), False), ((NO_POWER,), True)],
    ids=["not asked", "asked", "granted", "denied", "not a service"],
)
def test_a_rollout_waits_for_what_a_service_has_not_answered(conditions, waits):
    """An Instance counts against the admission window while the service behind its gate is undecided."""
    assert is_at_gates(instance(conditions=conditions, gates=("License",))) is waits


def test_a_closed_gate_is_named_in_ready():
    """With what its condition says, if it says anything."""
    expected = "Waiting for License (asking for a license), Power"
    got = ready(ASKED, closed=("License", "Power"))
    assert got == ("False", "SchedulingGatesPresent", expected)


def test_a_denial_replaces_what_the_provider_reports():
    """Before and after the gate was opened, and until it is lifted."""
    assert ready(DENIED, closed=("License",)) == ("False", "PendingLicense", "no license left")
    assert ready(*STARTS, DENIED) == ("False", "PendingLicense", "no license left")
    lifted = condition("Available", "False", "PendingLicense", "no license left")
    reported = readiness.conditions(
        instance(conditions=(lifted, GRANTED)), network_failure=None, now=NOW
    )
    available = find(reported, "Available")
    assert available is not None
    assert (available.status, available.reason) == ("Unknown", "Pending")


def test_a_denial_without_a_message_gets_one():
    """By the name of its gate."""
    wordless = condition("LicenseGranted", "False", "LicenseExceeded", "")
    expected = "License is not granted: LicenseExceeded"
    assert ready(wordless, closed=("License",)) == ("False", "PendingLicense", expected)


def test_a_plain_condition_explains_ready_itself():
    """Its reason outranks that the Instance waits, and the denial of a lower rank."""
    assert ready(NO_POWER, closed=("Power",)) == ("False", "PowerMissing", "the rack is dark")
    assert ready(DENIED, NO_POWER, closed=("License",))[1] == "PowerMissing"


def test_a_deployment_reports_the_denials_of_its_instances():
    """One reason before the others, translated for Available, the whole one for ReplicasReady."""
    one = instance(0, conditions=(EXPIRED,), gates=("License",))
    other = instance(1, conditions=(DENIED,), gates=("License",))
    expected = "LicenseExceeded", "web-home-dfw-1: no license left"
    assert of_deployment("ReplicasReady", one, other) == expected
    assert of_deployment("Available", other)[0] == "LicenseNotGranted"
    dark = instance(0, conditions=(replace_reason(NO_POWER, "Storm"),))
    assert of_deployment("ReplicasReady", dark)[0] == "PowerMissing"


def replace_reason(of, reason):
    """The condition with another reason."""
    return condition(of.type, of.status, reason, of.message)


def test_an_answer_of_a_service_is_reported_at_once():
    """That it was asked need not be reported, a denial must be."""
    new = instance(conditions=(WAITS, ASKED), gates=("License",))
    assert report_delay(new, (WAITS, ASKED), NOW) is not None
    assert report_delay(new, (WAITS, DENIED), NOW) is None


def test_a_gate_that_is_about_to_open_is_not_settled():
    """Its condition is True and it is still closed: the cell is about to write the Instance."""
    assert not is_settled(instance(conditions=(WAITS, GRANTED), gates=("License",)))
    assert is_settled(instance(conditions=(WAITS, ASKED), gates=("License",)))
    serves = (condition("Ready", generation=1), *STARTS)
    assert is_settled(instance(conditions=serves))
    assert not is_settled(instance(conditions=(*serves, DENIED)))


@pytest.mark.parametrize(
    ("conditions", "closed", "reason"),
    [((DENIED,), (), "LicenseExceeded"), ((NO_POWER,), (), "PowerMissing")],
    ids=["of a service", "plain"],
)
def test_a_condition_of_a_gate_explains_an_instance(conditions, closed, reason):
    """As the cause that the command line and the events name."""
    one = instance(conditions=(*conditions, WAITS), gates=closed)
    assert explain_instance(one, now=NOW + timedelta(seconds=1)).reason == reason


def test_the_checklist_shows_every_gate():
    """The initial ones always, others while they are closed, with what they wait for."""
    one = instance(conditions=(ASKED,), gates=("License", "Power"))
    shown = {g.name: (g.open, g.why) for g in explain_instance(one, now=NOW).gates}
    assert shown == {
        "Network": (True, ""),
        "Quota": (True, ""),
        "License": (False, "asking for a license"),
        "Power": (False, "The rack has no power yet."),
    }


def test_the_highest_rank_of_the_answered_gates_is_asked_first():
    """Of equal causes the one of the heavier gate is named."""
    heavy = replace(LICENSE, name="Heavy", rank=Rank.OVERRIDING)
    assert GateTable((LICENSE, heavy)).answered == (heavy, LICENSE)
