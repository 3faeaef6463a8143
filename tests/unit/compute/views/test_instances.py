"""Instances as people read them."""

import pytest
from msgspec.structs import replace

from compute.api import labels
from compute.api.compute import InterfaceAssignments, NetworkInterfaceStatus
from compute.decide.instance_state import InstanceState
from compute.decide.workload import history
from compute.views.instances import InstanceFilter, addresses, instance_views
from tests.support.compute.builders import NOW, condition, placement, template, workload
from tests.support.compute.progress_builders import NEW, OLD, given, not_ready, running

WEB = workload("web", placement("home", "DFW", "LHR"), template=template(NEW))
BROKEN = condition("Ready", "Unknown", "ImageUnavailable", "manifest unknown", since=NOW)


def recorded(*images):
    kept = None
    for image in images:
        kept = history.record(
            kept, replace(WEB, spec=replace(WEB.spec, template=template(image))), "jo", NOW
        )
    return kept


def views(*instances, deployments=(), histories=None):
    return instance_views([WEB], deployments, instances, histories or {}, NOW)


def test_the_order_is_that_of_cities_and_ordinals():
    """The tenth Instance comes after the second."""
    found = views(running(10), running(2), running(city="LHR"), running(2, placement="a"))

    assert [view.name for view in found] == [
        "web-a-dfw-2", "web-home-dfw-2", "web-home-dfw-10", "web-home-lhr-0",
    ]  # fmt: skip


def test_what_is_known_of_an_instance():
    """Everything that a list shows, in one view."""
    assigned = InterfaceAssignments(network_ip="10.0.0.2", external_ip="203.0.113.9")
    of = running(
        labels={
            **running().metadata.labels,
            labels.SOURCE_CLUSTER: "dfw",
            labels.PLACEMENT_NAME: "home",
        }
    )
    of = replace(
        of,
        status=replace(
            of.status, network_interfaces=(NetworkInterfaceStatus(assignments=assigned),)
        ),
    )

    (view,) = views(of, histories={"web": recorded(OLD, NEW)})

    assert (view.workload, view.placement, view.city, view.cell) == ("web", "home", "DFW", "dfw")
    assert (view.internal_ip, view.external_ip) == ("10.0.0.2", "203.0.113.9")
    assert (view.state, view.status) == (InstanceState.AVAILABLE, "Available")
    assert (view.type, view.instance_type) == ("sandbox", "datumcloud/d1-standard-2")
    assert (view.revision, view.outdated, view.reported_at) == (2, False, None)
    assert (view.created_at, view.images) == (NOW, "registry.test/web:1")


def test_a_cause_is_part_of_the_view():
    """With its message and since when."""
    (view,) = views(running(0, BROKEN, image=OLD), histories={"web": recorded(OLD, NEW)})

    assert (view.status, view.reason) == ("Failed (image unavailable)", "ImageUnavailable")
    assert (view.message, view.since) == ("manifest unknown", NOW)
    assert (view.revision, view.outdated) == (1, True)


def test_without_labels_the_name_tells_where_it_runs():
    """An older cell did not write them. Nothing is ever called unknown."""
    (view,) = views(running(labels={}))

    assert (view.workload, view.placement, view.city) == ("web", "home", "DFW")


def test_a_name_that_says_nothing():
    """A deployment whose name has a hash needs its labels; an Instance without both still has a view."""
    (view,) = views(running(name="odd", labels={}))

    assert (view.workload, view.placement, view.city, view.revision) == ("", "", "", None)


def test_the_age_of_the_data_where_the_cell_is_unreachable():
    """The deployment knows since when its cell does not report."""
    lost = given(1, condition("Available", "Unknown", "CellUnreachable", "no report", since=NOW))

    (view,) = views(running(), deployments=[lost])

    assert (view.status, view.reported_at) == ("Unreachable (was available)", NOW)


def test_only_addresses_that_exist():
    """The first interface may have none yet."""
    of = running()
    second = NetworkInterfaceStatus(assignments=InterfaceAssignments(network_ip="10.9.0.2"))
    status = replace(of.status, network_interfaces=(NetworkInterfaceStatus(), second))

    assert addresses(of) == (None, None)
    assert addresses(replace(of, status=status)) == ("10.9.0.2", None)


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (InstanceFilter(), ["web-home-dfw-0", "web-home-dfw-1", "web-home-lhr-0"]),
        (InstanceFilter("web", ["LHR"]), ["web-home-lhr-0"]),
        (InstanceFilter("api"), []),
        (InstanceFilter(states=[InstanceState.PENDING, InstanceState.FAILED]), ["web-home-dfw-1"]),
    ],
)
def test_filters(wanted, names):
    """Empty ones admit all, and all have to be met."""
    found = views(running(), running(1, not_ready("QuotaExceeded")), running(city="LHR"))

    assert [view.name for view in found if wanted.admits(view)] == names
