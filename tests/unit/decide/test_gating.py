import msgspec

from compute.decide import gating
from tests.builders import instance, instance_spec


def test_gates_open_one_by_one():
    """Each goes by itself, the others stay in their order, and nothing else changes."""
    shut = instance(gates=("Network", "Quota"))
    half = gating.opened(shut, "Network")
    assert gating.closed(half) == ("Quota",)
    assert gating.closed(gating.opened(half, "Quota")) == ()
    assert msgspec.structs.replace(half, spec=shut.spec) == shut


def test_a_gate_that_is_open_changes_nothing():
    """The Instance stays the very same, so that nothing is written."""
    half = instance(gates=("Quota",))
    assert gating.opened(half, "Network") is half


def test_an_instance_that_nobody_controls_waits_nowhere():
    """There is nobody who could have closed a gate."""
    free = msgspec.structs.replace(instance(), spec=instance_spec())
    assert gating.closed(free) == ()
    assert gating.opened(free, "Quota") is free
