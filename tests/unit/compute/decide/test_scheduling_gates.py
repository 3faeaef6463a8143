import msgspec

from compute.decide import scheduling_gates
from tests.support.compute.builders import instance, instance_spec


def test_gates_open_one_by_one():
    """Each goes by itself, the others stay in their order, and nothing else changes."""
    shut = instance(gates=("Network", "Quota"))
    half = scheduling_gates.opened(shut, "Network")
    assert scheduling_gates.closed(half) == ("Quota",)
    assert scheduling_gates.closed(scheduling_gates.opened(half, "Quota")) == ()
    assert msgspec.structs.replace(half, spec=shut.spec) == shut


def test_a_gate_that_is_open_changes_nothing():
    """The Instance stays the very same, so that nothing is written."""
    half = instance(gates=("Quota",))
    assert scheduling_gates.opened(half, "Network") is half


def test_an_instance_without_a_controller_block_has_no_gates():
    """Without a controller there is no gate."""
    free = msgspec.structs.replace(instance(), spec=instance_spec())
    assert scheduling_gates.closed(free) == ()
    assert scheduling_gates.opened(free, "Quota") is free
