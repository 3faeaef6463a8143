"""From a Pod and its node to the conditions of an Instance."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, strategies as st

from compute.api.compute import InterfaceAssignments, NetworkInterfaceStatus
from compute.api.reasons import Reason, describe
from compute.decide.pods import node_state
from compute.decide.pods.pod_state import PodState, interfaces, state_of, with_known_cause
from kubekit.api.kinds.pods import ContainerStatus, Pod, PodCondition
from kubekit.api.meta import with_metadata, with_status
from tests.support.compute.builders import NOW, condition, instance
from tests.support.compute.pod_statuses import (
    ended,
    node,
    pod,
    ready,
    running_pod,
    runs,
    waits,
)

DELETED = NOW - timedelta(seconds=3)
PAUSE = 'Back-off pulling image "web:1"'
SET_UP = ("True", "Programmed", "The Pod is set up on the node node-1")
UNKNOWN = (
    "; whether the instance still runs there is unknown, "
    "and it is started again once its Pod is gone"
)


def stated(state: PodState) -> tuple[str, str, str]:
    value = state.available
    return value.status, value.reason, value.message


def programmed(state: PodState) -> tuple[str, str]:
    return state.programmed.status, state.programmed.reason


def aged(found: Pod, seconds: float) -> Pod:
    return with_metadata(found, creation_timestamp=NOW - timedelta(seconds=seconds))


def test_a_pod_that_runs():
    state = state_of(running_pod(), node(), NOW)

    assert stated(state) == ("True", "Available", "The Pod runs on the node node-1")
    assert (state.programmed.status, state.programmed.reason, state.programmed.message) == SET_UP
    assert state.template_hash == "hash"
    assert state.recheck is None


@pytest.mark.parametrize(
    ("ages", "left"),
    [([0], 3), ([1], 2), ([60, 1], 2), ([3], None), ([60, 3], None), ([-5], None), ([None], None)],
)
def test_a_program_is_available_once_it_has_run_for_a_moment(ages, left):
    """Of several the youngest counts. A clock that is behind that of the node delays nothing."""
    started = [None if age is None else NOW - timedelta(seconds=age) for age in ages]

    state = state_of(running_pod(*(runs(since) for since in started)), node(), NOW)

    assert state.recheck == (None if left is None else timedelta(seconds=left))
    assert state.available.reason == ("Available" if left is None else "Starting")
    assert state.settling is (left is not None)
    assert programmed(state) == ("True", "Programmed")


def test_a_pod_that_waits_for_a_node():
    why = "0/3 nodes are available: 3 Insufficient memory."
    refused = PodCondition(type="PodScheduled", status="False", message=why)

    state = state_of(pod("", "Pending", conditions=(refused,)), None, NOW)

    assert stated(state) == ("False", "Provisioning", f"No node takes the Pod yet: {why}")
    assert programmed(state) == ("False", "ProgrammingInProgress")
    assert state.template_hash is None
    assert not state.settling


@pytest.mark.parametrize(("age", "settling"), [(-1, False), (0, True), (1.5, True), (2, False)])
def test_the_first_moments_of_a_pod_are_not_reported(age, settling):
    """Neither before it has a node nor while it starts. A clock that is behind delays nothing."""
    for found in (pod("", "Pending"), pod(phase="Pending")):
        assert state_of(aged(found, age), None, NOW).settling is settling


@pytest.mark.parametrize(
    ("statuses", "stalled"),
    [((), True), ((waits("ContainerCreating"),), True), ((runs(),), False)],
)
def test_a_pod_whose_containers_are_being_started(statuses, stalled):
    state = state_of(pod(phase="Pending", container_statuses=statuses), node(), NOW)

    message = "The containers are being started on the node node-1"
    assert stated(state) == ("False", "Provisioning", message)
    assert programmed(state) == ("True", "Programmed")
    assert state.template_hash == "hash"
    assert state.stalled is stalled


@pytest.mark.parametrize("conditions", [(), (ready("False"),)])
def test_a_running_pod_that_is_not_ready_is_not_available(conditions):
    found = pod(conditions=conditions, container_statuses=(runs(),))

    assert stated(state_of(found, node(), NOW))[:2] == ("False", "Provisioning")


def test_a_fault_of_a_container():
    crashing = waits("CrashLoopBackOff", last_state=ended(1))

    state = state_of(running_pod(crashing), node(), NOW)

    assert stated(state)[:2] == ("False", "InstanceCrashing")
    assert programmed(state) == ("True", "Programmed")
    again = runs(NOW - timedelta(seconds=10), ended(1), 2)
    assert state_of(running_pod(again), node(), NOW).recheck == timedelta(seconds=20)


@pytest.mark.parametrize(
    ("found", "reason", "message"),
    [
        (
            pod(phase="Failed", reason="Evicted", message="low on memory"),
            "Failed",
            "The Pod has failed: Evicted: low on memory; it is replaced",
        ),
        (pod(phase="Failed"), "Failed", "The Pod has failed; it is replaced"),
        (pod("", "Failed"), "Failed", "The Pod has failed; it is replaced"),
        (
            pod(phase="Succeeded"),
            "Stopping",
            "Every container has ended; the Pod is replaced",
        ),
    ],
)
def test_a_pod_that_has_ended_is_replaced(found, reason, message):
    state = state_of(found, node("Unknown"), NOW)

    assert stated(state) == ("False", reason, message)
    assert programmed(state) == ("False", "ProgrammingInProgress")
    assert state.ended


@pytest.mark.parametrize(
    ("status", "cause"),
    [
        ({}, ""),
        ({"phase": "Failed", "reason": "Evicted", "message": "low"}, " (Evicted: low)"),
        (
            {
                "conditions": (
                    PodCondition(type="DisruptionTarget", status="True", message="drained"),
                )
            },
            " (drained)",
        ),
        (
            {
                "conditions": (
                    PodCondition(type="DisruptionTarget", status="True", reason="Preempted"),
                )
            },
            " (Preempted)",
        ),
    ],
)
def test_a_pod_that_is_being_stopped(status: dict[str, Any], cause):
    found = with_metadata(with_status(running_pod(), **status), deletion_timestamp=DELETED)

    state = state_of(found, node(), NOW)

    message = f"The Pod is being stopped{cause}; it is started again once its Pod is gone"
    assert stated(state) == ("False", "Stopping", message)
    assert not state.ended
    assert programmed(state_of(with_metadata(pod(""), deletion_timestamp=DELETED), None, NOW)) == (
        "False",
        "ProgrammingInProgress",
    )


@pytest.mark.parametrize("deleted", [None, DELETED])
def test_a_pod_of_a_lost_node(deleted):
    """It may still run: it counts as set up, and nothing is started elsewhere."""
    found = with_metadata(running_pod(), deletion_timestamp=deleted)

    state = state_of(found, node("Unknown", "Kubelet stopped posting"), NOW)

    lost = "The node node-1 does not report: Kubelet stopped posting"
    assert stated(state) == ("False", "NodeNotReady", lost + UNKNOWN)
    assert programmed(state) == ("True", "Programmed")
    assert not state.ended


def test_a_pod_of_an_unknown_phase():
    state = state_of(pod(phase="Unknown"), None, NOW)

    lost = "The node node-1 does not report the state of the Pod"
    assert stated(state) == ("False", "NodeNotReady", lost + UNKNOWN)


@pytest.mark.parametrize(
    ("found", "fault"),
    [
        (None, None),
        (node(), None),
        (node("False", "no network"), "The node node-1 is not ready: no network"),
        (
            node("Unknown", reason="NodeStatusUnknown"),
            "The node node-1 does not report: NodeStatusUnknown",
        ),
        (node("Unknown"), "The node node-1 does not report"),
    ],
)
def test_nodes(found, fault):
    assert node_state.fault(found) == fault


@pytest.mark.parametrize(
    ("known", "reason", "kept"),
    [
        ("The image web:1 cannot be pulled: no such tag", "ImageUnavailable", True),
        ("The image web:1 cannot be pulled", "ImageUnavailable", False),
        ("The image web:10 cannot be pulled: no such tag", "ImageUnavailable", False),
        ("The image web:1 cannot be pulled: no such tag", "Provisioning", False),
        (None, "", False),
    ],
)
def test_a_known_cause_is_kept_while_a_kubelet_pauses(known, reason, kept):
    conditions = () if known is None else (condition("Available", "False", reason, known),)
    paused = pod(phase="Pending", container_statuses=(waits("ImagePullBackOff", PAUSE),))

    state = with_known_cause(state_of(paused, None, NOW), instance(conditions=conditions))

    assert state.available.message == (known if kept else "The image web:1 cannot be pulled")
    assert state.available.reason is Reason.IMAGE_UNAVAILABLE


def test_an_interface_has_the_address_of_the_pod():
    made = instance()
    known = NetworkInterfaceStatus(
        assignments=InterfaceAssignments(network_ip="10.0.0.1", external_ip="192.0.2.1")
    )
    before = with_status(made, network_interfaces=(known,))

    (fresh,) = interfaces(made, running_pod(pod_ip="10.0.0.9"))
    (moved,) = interfaces(before, running_pod(pod_ip="10.0.0.9"))

    assert fresh.assignments == InterfaceAssignments(network_ip="10.0.0.9")
    assert moved.assignments.external_ip == "192.0.2.1"
    assert moved.assignments.network_ip == "10.0.0.9"
    assert interfaces(before, running_pod()) == ()
    assert interfaces(before, None) == ()


STATUSES = [
    runs(),
    runs(NOW, ended(1), 3),
    waits("ContainerCreating"),
    waits("ErrImagePull"),
    waits("CrashLoopBackOff"),
    waits("CreateContainerConfigError"),
    ContainerStatus(name="app"),
    ContainerStatus(name="app", state=ended(1)),
]
pods = st.builds(
    lambda node, phase, statuses, is_ready, deleted: with_metadata(
        pod(node, phase, container_statuses=tuple(statuses), conditions=(ready(is_ready),)),
        deletion_timestamp=deleted,
    ),
    st.sampled_from(["", "node-1"]),
    st.sampled_from(["", "Pending", "Running", "Succeeded", "Failed", "Unknown"]),
    st.lists(st.sampled_from(STATUSES), max_size=3),
    st.sampled_from(["True", "False", "Unknown"]),
    st.sampled_from([None, DELETED]),
)
nodes = st.sampled_from([None, node(), node("False"), node("Unknown")])


@given(pods, nodes)
def test_whatever_a_pod_reports(found, on):
    """A known reason and a sentence; available only if all runs; started anew only if it has ended."""
    state = state_of(found, on, NOW)

    for value in (state.programmed, state.available):
        assert describe(value.reason) is value.reason
        assert value.message
    assert state.programmed.status in ("True", "False")
    if state.available.status == "True":
        assert found.status.phase == "Running"
        assert not found.deleting
        assert state.programmed.status == "True"
        assert node_state.fault(on) is None
    if state.ended:
        assert found.status.phase in ("Succeeded", "Failed")
        assert not found.deleting
    if state.programmed.status == "True":
        assert found.spec.node_name
        assert state.template_hash == "hash"
