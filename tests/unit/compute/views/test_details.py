"""All about one Workload, and about one Instance."""

from datetime import timedelta

from msgspec.structs import replace

from compute.api import annotations
from compute.api.compute import (
    InterfaceAssignments,
    Metric,
    MetricTarget,
    NetworkInterfaceStatus,
    ResourceMetric,
)
from compute.decide import overrides
from compute.views.details.conditions import condition_views
from compute.views.details.instance_details import InstanceEvidence, instance_detail
from compute.views.details.plane_paths import CELL, HUB, PlaneReading, PlaneReadState
from compute.views.details.workload_details import workload_detail
from compute.views.instances import InstanceContext
from compute.views.workloads import workload_view
from kubekit.api.meta import EPOCH, ManagedFieldsEntry, with_metadata
from tests.support.compute.builders import NOW, condition, placement, workload
from tests.support.compute.explain_builders import answer, binding, claim, quota
from tests.support.compute.progress_builders import given, not_ready, running

SECOND = timedelta(seconds=1)
GRANTED = condition("QuotaGranted", "True", "QuotaAvailable", since=NOW + 2 * SECOND)
READY = condition("Ready", since=NOW + 3 * SECOND)


def about(of, **changes):
    """The detail of an Instance, with this evidence besides."""
    known = InstanceEvidence(of, InstanceContext(), "demo")
    return instance_detail(replace_evidence(known, **changes), NOW + timedelta(minutes=3))


def replace_evidence(known, **changes):
    fields = {name: getattr(known, name) for name in known.__slots__}
    return InstanceEvidence(**(fields | changes))


def described(of):
    summary = workload_view(of, (), (), NOW)
    return workload_detail(of, summary, None, NOW)


def test_placements_with_their_scale():
    """Without autoscaling there is no most; metrics are phrases."""
    percent = Metric(
        resource=ResourceMetric(name="cpu", target=MetricTarget(average_utilization=70))
    )
    amount = Metric(
        resource=ResourceMetric(name="memory", target=MetricTarget(average_value="1Gi"))
    )
    total = Metric(resource=ResourceMetric(name="memory", target=MetricTarget(value="8Gi")))
    of = workload(
        "web",
        placement("fixed", "DFW", replicas=2),
        placement("edge", "LHR", max_replicas=5, metrics=(percent, amount, total, Metric())),
    )

    fixed, edge = described(of).placements

    assert (fixed.min_replicas, fixed.max_replicas, fixed.metrics) == (2, None, ())
    assert (edge.cities, edge.min_replicas, edge.max_replicas) == (("LHR",), 1, 5)
    assert edge.metrics == ("cpu at 70%", "memory at 1Gi", "memory at 8Gi")


def test_what_users_have_set():
    """Restarts of all cities and of one, and Instances that were replaced."""
    of = overrides.restarted(workload(), (), NOW)
    of = overrides.restarted(of, ["DFW"], NOW + SECOND)
    of = overrides.replaced(of, ["web-home-dfw-0"], NOW)

    detail = described(of)

    assert [(r.city, r.at) for r in detail.restarts] == [
        (None, "2026-06-01T12:00:00Z"),
        ("DFW", "2026-06-01T12:00:01Z"),
    ]
    assert detail.replaced_instances == {"web-home-dfw-0": "2026-06-01T12:00:00Z"}
    assert described(workload()).restarts == ()


def test_conditions_in_words():
    """A condition and a reason that are not known here have no words."""
    known, odd = condition_views(
        [
            condition("Ready", "False", "QuotaExceeded", "no"),
            condition("Shiny", "True", "Polished", since=NOW),
        ]
    )

    assert known.means.startswith("It can be used")
    assert (known.explains, known.since) == (
        "The project has not enough quota left for the instance.",
        None,
    )
    assert (odd.means, odd.explains, odd.since) == ("", "", NOW)


def test_gates_with_their_times():
    """An open one after how long, as far as its condition is known; a closed one since when."""
    detail = about(running(0, not_ready("NetworkProvisioning"), GRANTED, gates=("Network",)))
    network, granted = detail.gates

    assert (network.open, network.since, network.opened_after) == (False, NOW, None)
    assert network.why == "The network is not ready in the city yet."
    assert (granted.open, granted.opened_after) == (True, 2.0)


def test_a_gate_whose_binding_is_known():
    """It was ready before the Instance was there, so the gate was never closed for it."""
    bound = binding("Ready", status="True")
    earlier = with_metadata(running(0, READY), creation_timestamp=NOW + SECOND)

    network, of_quota = about(earlier, context=InstanceContext(binding=bound)).gates

    assert (network.open, network.opened_after) == (True, 0.0)
    assert (of_quota.open, of_quota.opened_after) == (True, None)


def test_a_gate_that_waits_since_its_condition_changed():
    """Not since the Instance was created, which was earlier."""
    refused = replace(quota(), last_transition_time=NOW + 5 * SECOND)
    _, closed = about(running(0, refused, gates=("Quota",))).gates

    assert closed.since == NOW + 5 * SECOND


def test_a_gate_of_a_newer_release():
    """Its name is shown although nothing is known about it."""
    assert [(g.name, g.open) for g in about(running(0, READY, gates=("Moon",))).gates] == [
        ("Network", True),
        ("Quota", True),
        ("Moon", False),
    ]


def test_what_it_needs_of_the_quota():
    """Each resource with its answer, in units that people use; no answer yet is pending."""
    asked = claim(
        answer("instances", "Granted"), answer("vcpus", "Denied", "QuotaExceeded", "0 left")
    )

    needs = about(running(0, quota(), gates=("Quota",)), claim=asked).quota

    assert [(n.amount, n.answer, n.message) for n in needs] == [
        ("1 instance", "Granted", ""),
        ("1 vCPU", "Denied", "0 left"),
        ("2048 MiB of memory", "Pending", "The quota service has not answered yet"),
    ]
    assert about(running()).quota is None


def test_interfaces_with_their_bindings():
    """Addresses come later than the spec, and the binding only where the cell may be read."""
    of = running()
    reported = NetworkInterfaceStatus(assignments=InterfaceAssignments(network_ip="10.0.0.2"))
    attached = replace(of, status=replace(of.status, network_interfaces=(reported,)))

    (bare,) = about(of).interfaces
    (known,) = about(attached, bindings={"default": binding("Failed", "no address")}).interfaces

    assert (bare.internal_ip, bare.binding) == (None, None)
    assert known.internal_ip == "10.0.0.2"
    assert (known.binding.ready, known.binding.reason) == ("False", "Failed")


def test_a_binding_without_a_report():
    """The network service has not seen it yet."""
    new = binding("x")
    new = replace(new, status=replace(new.status, conditions=()))

    (interface,) = about(running(), bindings={"default": new}).interfaces

    assert (interface.binding.ready, interface.binding.message) == ("Unknown", "")


def test_the_cause_and_the_next_command():
    """In sentences, with the names of the user's own objects filled in."""
    cause = about(running(0, not_ready("ImageUnavailable", "no such tag"))).cause

    assert not cause.healthy
    assert "It says: no such tag." in cause.text
    assert cause.next == "compute rollout undo web"


def test_no_undo_where_it_would_be_refused():
    """A first revision has nothing to go back to."""
    broken = running(0, not_ready("ImageUnavailable"))
    cause = about(broken, context=InstanceContext(can_undo=False)).cause

    assert cause.next == "compute deploy web --image IMAGE"
    assert "undo" not in cause.next_step


def test_a_healthy_instance():
    """There is nothing to do."""
    cause = about(running()).cause

    assert (cause.healthy, cause.next) == (True, "")


def test_an_instance_whose_cell_does_not_report():
    """What the Instance says of itself is old, so its cell is the cause."""
    lost = given(
        1,
        condition("Available", "Unknown", "CellUnreachable", "no report since noon", since=NOW),
        annotations={annotations.LAST_REPORT: "2026-06-01T11:59:00Z"},
    )

    detail = about(running(), context=InstanceContext(lost))

    assert detail.summary.status == "Unreachable (was available)"
    assert (detail.cause.healthy, detail.cause.reason) == (False, "CellUnreachable")
    assert detail.cause.text == "no report since noon. Everything else here is as old as that."
    assert detail.cause.next == "compute cities describe DFW"


def test_the_planes_agree_or_differ():
    """Each plane is compared with the project; what cannot be read says why."""
    own = running()
    behind = running(0, not_ready("QuotaExceeded"))
    leaving = with_metadata(own, deletion_timestamp=NOW)

    path = about(
        own,
        planes=[
            PlaneReading(HUB, "hub", own),
            PlaneReading(CELL, "dfw", behind),
            PlaneReading(CELL, "gone"),
            PlaneReading(CELL, "cut", problem="it cannot be reached"),
            PlaneReading(CELL, "late", leaving),
        ],
    ).path

    assert [(p.plane, p.name, p.state, p.differs) for p in path] == [
        ("project", "demo", PlaneReadState.FOUND, ()),
        (HUB, "hub", PlaneReadState.FOUND, ()),
        (CELL, "dfw", PlaneReadState.FOUND, ("status",)),
        (CELL, "gone", PlaneReadState.MISSING, ()),
        (CELL, "cut", PlaneReadState.UNREADABLE, ()),
        (CELL, "late", PlaneReadState.FOUND, ("deletion",)),
    ]
    assert path[2].status == "Pending (quota exceeded)"
    assert path[4].problem == "it cannot be reached"


def test_the_age_of_the_data_on_a_plane():
    """The last write counts; without that record the last transition, else the creation."""
    written = with_metadata(
        running(),
        managed_fields=(
            ManagedFieldsEntry(manager="deployment", time=NOW),
            ManagedFieldsEntry(manager="provider", time=NOW),
            ManagedFieldsEntry(manager="older", time=NOW - SECOND),
            ManagedFieldsEntry(manager="timeless"),
        ),
    )
    old = [written, running(0, READY), running(0, condition("Ready", since=EPOCH))]

    found = [about(each).path[0] for each in old]

    assert [(p.written_at, p.written_by) for p in found] == [
        (NOW, "provider"),
        (NOW + 3 * SECOND, ""),
        (NOW, ""),
    ]
