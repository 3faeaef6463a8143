"""Requests and the names of clusters."""

import pytest

from kubekit.runtime.requests import ClusterName, NotEngaged, Request, cluster_name


@pytest.mark.parametrize("text", ["", " ", "\n", " hub", "hub "])
def test_trap_an_empty_cluster_name_cannot_exist(text):
    """No name is made of nothing: an empty one was once taken for any cluster."""
    with pytest.raises(ValueError, match="does not name a cluster"):
        cluster_name(text)


def test_trap_a_request_without_a_cluster_cannot_exist():
    """Code that bypasses the function cannot make a request without a cluster either."""
    with pytest.raises(ValueError, match="names no cluster"):
        Request(ClusterName(""), "default", "web")


def test_a_request_reads_as_a_path():
    """Logs show where an object is in one word, with or without a namespace."""
    hub = cluster_name("hub")

    assert str(Request(hub, "default", "web")) == "hub/default/web"
    assert str(Request(hub, "", "p1")) == "hub/p1"


def test_equal_requests_are_one_key():
    """Two requests for the same object are the same key, and another cluster is another."""
    a, b = (Request(cluster_name(name), "default", "web") for name in ("p1", "p2"))

    assert {a: 1, Request(cluster_name("p1"), "default", "web"): 2} == {a: 2}
    assert a != b


def test_not_engaged_names_the_cluster():
    """The message names the cluster."""
    assert str(NotEngaged(cluster_name("p1"))) == "the cluster p1 is not engaged"
