"""Amounts of quota as people read them."""

import pytest

from compute.decide import quota
from compute.decide.quota.units import order, unit_of


@pytest.mark.parametrize(
    ("kind", "amount", "number", "phrase"),
    [
        (quota.INSTANCES, 1, 1, "1 instance"),
        (quota.INSTANCES, 2, 2, "2 instances"),
        (quota.VCPUS, 2500, 2.5, "2.5 vCPU"),
        (quota.VCPUS, 40_000, 40, "40 vCPU"),
        (quota.MEMORY, 2048, 2048, "2048 MiB of memory"),
        ("example.com/gpus", 3, 3, "3 gpus"),
    ],
)
def test_an_amount_is_shown_in_its_unit(kind, amount, number, phrase):
    """A type that is not known here is shown as it is counted."""
    unit = unit_of(kind)

    assert unit.number(amount) == number
    assert unit.text(amount) == str(number)
    assert unit.phrase(amount) == phrase


def test_the_types_of_compute_come_first():
    """Others follow by name."""
    kinds = ["b.example/z", "a.example/x", quota.MEMORY, quota.INSTANCES, quota.VCPUS]

    ordered = sorted(kinds, key=order)

    assert ordered == [quota.INSTANCES, quota.VCPUS, quota.MEMORY, "a.example/x", "b.example/z"]
