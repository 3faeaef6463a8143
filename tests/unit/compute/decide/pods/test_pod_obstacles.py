"""Pods and Services that cannot be created."""

from compute.api.reasons import NeighbourReason, Reason
from compute.decide.pods import pod_obstacles
from compute.decide.pods.pod_refusals import PodRefusal
from kubekit.api.errors import Forbidden, Invalid
from tests.support.compute.pod_statuses import pod


def test_a_refusal_is_final():
    state = pod_obstacles.refused(PodRefusal("spec.volumes[data].disk: no"))

    assert state.programmed == state.available
    assert (state.available.status, state.available.reason) == ("False", "ConfigurationError")
    assert state.available.message == "spec.volumes[data].disk: no"
    assert state.recheck is None


def test_an_invalid_pod_never_becomes_valid():
    state = pod_obstacles.rejected(Invalid("Pod is invalid: spec.x"))

    assert state.available.reason is Reason.CONFIGURATION_ERROR
    assert "Pod is invalid: spec.x" in state.available.message
    assert state.recheck is None


def test_a_forbidden_pod_is_tried_again():
    state = pod_obstacles.rejected(Forbidden("exceeded quota: pods"))

    assert state.available.reason is Reason.PROVISIONING
    assert "exceeded quota: pods" in state.available.message
    assert state.programmed.reason is Reason.PROGRAMMING_IN_PROGRESS
    assert state.recheck is not None


def test_a_name_that_is_taken():
    state = pod_obstacles.name_taken(pod())

    assert state.programmed.reason is state.available.reason is NeighbourReason.NAME_TAKEN
    assert "Pod ns-1/web-home-dfw-0" in state.available.message
    assert state.recheck is not None


def test_an_object_of_an_earlier_instance():
    state = pod_obstacles.held_up(pod())

    assert state.available.reason is Reason.PROVISIONING
    assert state.programmed.status == "False"
