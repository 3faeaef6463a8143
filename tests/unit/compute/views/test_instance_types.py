"""The sizes of instances."""

import pytest

from compute.decide.quota import INSTANCE_TYPES
from compute.decide.workload_edits import deploy_flags
from compute.views.project.instance_types import InstanceTypeView, found_type, instance_types


def test_every_type_is_listed_with_its_size():
    """One of them is the default of a new workload."""
    types = instance_types(["DFW"])

    assert [each.name for each in types] == sorted(INSTANCE_TYPES)
    assert [each.name for each in types if each.default] == [deploy_flags.DEFAULT_INSTANCE_TYPE]
    assert types[0].cities == ("DFW",)
    assert instance_types()[0].cities is None


@pytest.mark.parametrize("spelling", [s for each in instance_types() for s in each.spellings])
def test_every_spelling_is_one_that_a_deploy_takes(spelling):
    """And it is found here, in any letter case."""
    found = found_type(spelling.upper(), instance_types())

    assert found is not None
    assert deploy_flags.instance_type(spelling) == found.name


def test_an_unknown_type_is_not_found():
    """A caller suggests one."""
    assert found_type("d9", instance_types()) is None


@pytest.mark.parametrize(("mebibytes", "text"), [(2048, "2 GiB"), (512, "512 MiB")])
def test_memory_is_shown_in_whole_numbers(mebibytes, text):
    """In the largest unit that allows it."""
    view = InstanceTypeView(
        name="x", spellings=(), vcpu=1, memory=mebibytes, default=False, cities=None
    )

    assert view.memory_text == text
