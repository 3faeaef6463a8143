"""Which clusters keep an object if they have it."""

import msgspec

from compute.api.karmada import SpreadConstraint
from compute.decide.federation.scheduling import keepers
from tests.unit.compute.decide.federation.test_scheduling import (
    CORDON,
    DRAIN,
    PLACEMENT,
    RESOURCE,
    cluster,
)


def test_a_cluster_that_fits_keeps_what_it_has_though_it_would_take_nothing_new():
    """Silence and a cordon are no reasons to move; to be elsewhere, drained or leaving is."""
    every = [
        cluster("well"),
        cluster("silent", ready="Unknown"),
        cluster("cordoned", taints=(CORDON,)),
        cluster("drained", taints=(DRAIN,)),
        cluster("elsewhere", "LHR"),
    ]
    assert keepers(RESOURCE, PLACEMENT, every) == ("well", "silent", "cordoned")


def test_no_cluster_keeps_what_cannot_be_placed():
    """An unreadable placement chooses no cluster."""
    strange = (SpreadConstraint(spread_by_field="zone"),)
    placement = msgspec.structs.replace(PLACEMENT, spread_constraints=strange)
    assert keepers(RESOURCE, placement, [cluster()]) == ()
