"""Networks as people read them."""

from compute.views.networks import network_view, network_views
from kubekit.api.meta import with_status
from tests.support.compute.builders import condition, workload
from tests.support.compute.network_builders import network


def test_networks_are_sorted_and_have_their_users():
    """By name; the workloads that name a network use it."""
    views = network_views([network("own"), network("default")], [workload("web"), workload("api")])

    assert [(view.name, view.used_by) for view in views] == [
        ("default", ("api", "web")),
        ("own", ()),
    ]


def test_what_cannot_be_read_is_not_known():
    """A user who may not read workloads still sees the networks."""
    assert network_view(network()).used_by is None


def test_ranges_are_those_that_the_user_chose():
    """A network without ranges gets its addresses from the operator of networks."""
    assert network_view(network()).ranges == ()
    assert network_view(network(range_="10.7.0.0/16")).ranges == ("10.7.0.0/16",)


def test_why_a_network_cannot_be_used():
    """The condition's reason and message, on one line; nothing once it is ready."""
    broken = condition("Ready", "False", "Unsupported", "10.0.0.0/8\nis too large")

    assert network_view(network()).why == "no operator of networks has reported on it yet"
    assert network_view(with_status(network(), conditions=(broken,))).why == (
        "Unsupported: 10.0.0.0/8 is too large"
    )
    ready = network_view(with_status(network(), conditions=(condition("Ready"),)))
    assert (ready.ready, ready.why) == ("True", "")
