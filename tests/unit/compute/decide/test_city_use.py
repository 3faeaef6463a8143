"""Which LocationBindings a user may take away."""

from collections.abc import Sequence

import pytest

from compute.api.compute import Workload
from compute.api.networking import LocationBinding
from compute.decide import city_use as subject
from tests.support.compute.builders import NOW, placement, workload
from tests.support.compute.federation_builders import with_meta
from tests.support.compute.workload_builders import binding

DFW, LHR = binding("DFW"), binding("LHR")
WEB = workload("web", placement("a", "DFW"), placement("b", "LHR"))


def refused(
    workloads: Sequence[Workload],
    after: LocationBinding | None = None,
    others: Sequence[LocationBinding] = (DFW, LHR),
) -> str:
    """The refusal of the removal of LHR; empty when it is allowed."""
    refusal = subject.refusal(LHR, after, others, workloads)
    return str(refusal) if refusal else ""


def test_a_binding_in_use_is_refused_with_its_users():
    """Names the Workloads, what to do, and where."""
    message = refused([WEB, workload("api", placement("a", "LHR")), workload("db")])

    assert message == (
        'locationbindings.networking.datumapis.com "lab-lhr" is forbidden: LHR is in use by '
        "Workloads default/api, default/web. Remove LHR from the placements of each, or delete "
        "the Workloads, first: kubectl edit workload api -n default"
    )


def test_only_some_of_many_users_are_named():
    """The number of the others is in the message."""
    many = [workload(f"w{n}", placement("a", "LHR")) for n in range(7)]

    assert "by Workloads default/w0, default/w1, default/w2, default/w3, default/w4 and 2 more" in (
        refused(many)
    )
    assert "by Workload default/web." in refused([WEB])


@pytest.mark.parametrize(
    ("workloads", "after", "others"),
    [
        ([workload("db")], None, (DFW, LHR)),
        ([with_meta(WEB, deletion_timestamp=NOW)], None, (DFW, LHR)),
        ([WEB], LHR, (DFW, LHR)),
        ([WEB], None, (LHR, with_meta(LHR, name="another"))),
    ],
    ids=["not used", "used by what goes", "changed otherwise", "offered by another"],
)
def test_a_binding_that_is_not_needed_may_go(workloads, after, others):
    """As long as no Workload that stays loses a city by it."""
    assert refused(workloads, after, others) == ""


def test_a_change_of_the_city_is_a_removal():
    """It takes the offer away all the same; a binding without a city offers none."""
    assert "LHR is in use" in refused([WEB], binding("LHR", city="SIN"))
    assert "LHR is in use" in refused([WEB], binding("LHR", city=""))
    assert subject.offered([DFW, binding("LHR", city="")]) == {"DFW"}
