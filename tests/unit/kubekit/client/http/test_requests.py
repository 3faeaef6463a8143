"""Requests in the words of the API."""

import re

import pytest
from hypothesis import given, strategies as st

from kubekit.api.errors import BadRequest
from kubekit.api.kinds.core import ConfigMap, Namespace
from kubekit.api.resource import Resource
from kubekit.client.http import requests
from kubekit.client.http.requests import HttpRequest
from kubekit.client.options import DeleteOptions, ListOptions, WatchOptions, WriteOptions
from kubekit.client.transport import ResourceLocation

MAP = ConfigMap.RESOURCE
BOAT = Resource(group="sea.example.com", version="v1", kind="Boat", plural="boats")


@pytest.mark.parametrize(
    ("place", "path"),
    [
        (ResourceLocation(Namespace.RESOURCE), "/api/v1/namespaces"),
        (ResourceLocation(Namespace.RESOURCE, name="a"), "/api/v1/namespaces/a"),
        (ResourceLocation(MAP), "/api/v1/configmaps"),
        (ResourceLocation(MAP, "a", "b"), "/api/v1/namespaces/a/configmaps/b"),
        (ResourceLocation(BOAT, "a"), "/apis/sea.example.com/v1/namespaces/a/boats"),
        (
            ResourceLocation(BOAT, "a", "b", "status"),
            "/apis/sea.example.com/v1/namespaces/a/boats/b/status",
        ),
        (ResourceLocation(MAP, "a", "system:x"), "/api/v1/namespaces/a/configmaps/system:x"),
    ],
    ids=str,
)
def test_paths(place, path):
    """A place has the path that Kubernetes gives it."""
    assert requests.path(place) == path


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a/b", "a%2Fb"),
        ("..", "%2E%2E"),
        (".", "%2E"),
        ("a?watch=1", "a%3Fwatch%3D1"),
        ("a b\r\nX: y", "a%20b%0D%0AX%3A%20y"),
        ("ä", "%C3%A4"),
        ("a\n", "a%0A"),
    ],
)
def test_nothing_in_a_name_leads_elsewhere(name, shown):
    """A name is one part of the path, whatever it holds."""
    assert requests.path(ResourceLocation(MAP, "", name)) == f"/api/v1/configmaps/{shown}"


words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1) | st.sampled_from(
    ["..", ".", "a/b", "%2F", "a b", "a\r\nX: y", "?watch=1", "#x"]
)


places = st.builds(
    ResourceLocation,
    st.builds(Resource, group=words, version=words, kind=st.just("K"), plural=words),
    words,
    words,
    words,
)


@given(places)
def test_every_part_of_a_path_is_one_part(place):
    """Whatever a place is made of, its path has as many parts, of letters that mean nothing else."""
    parts = requests.path(place).split("/")
    assert len(parts) == 9
    assert all(re.fullmatch(r"[A-Za-z0-9._:~%-]+", each) for each in parts[1:])
    assert not {".", ".."} & set(parts)


@pytest.mark.parametrize(
    ("name", "selector"),
    [
        ("one", "metadata.name=one,a=b"),
        ("a,metadata.namespace=b", r"metadata.name=a\,metadata.namespace\=b,a=b"),
        ("a\\b", r"metadata.name=a\\b,a=b"),
    ],
)
def test_a_name_in_a_selector_is_one_value(name, selector):
    """What divides a selector is escaped in a name, as Kubernetes reads it."""
    assert requests.name_selector(name, "a=b") == selector


def test_half_a_character_is_refused():
    """What no address can hold is refused before anything is sent."""
    with pytest.raises(BadRequest, match="half of a surrogate pair"):
        requests.path(ResourceLocation(MAP, "", "\ud800"))
    with pytest.raises(BadRequest, match="half of a surrogate pair"):
        requests.target("/api", {"labelSelector": "\ud800"})


def test_places_in_words():
    """An error names the kind, the part, the object and its namespace."""
    assert requests.described(ResourceLocation(BOAT, "a", "b", "status")) == (
        'boats.sea.example.com/status "b" in namespace "a"'
    )
    assert str(HttpRequest("GET", "/x", ResourceLocation(MAP))) == "GET configmaps"


def test_list_options():
    """All that was said is in the query, and nothing else."""
    options = ListOptions(
        label_selector="a=b",
        field_selector="c=d",
        limit=5,
        continue_="next",
        resource_version="7",
        resource_version_match="Exact",
    )
    assert requests.list_query(options) == {
        "labelSelector": "a=b",
        "fieldSelector": "c=d",
        "limit": "5",
        "continue": "next",
        "resourceVersion": "7",
        "resourceVersionMatch": "Exact",
    }
    assert requests.list_query(ListOptions()) == {}


def test_watch_options():
    """A false flag that was said is said."""
    options = WatchOptions(allow_bookmarks=True, send_initial_events=False, timeout_seconds=0)
    assert requests.watch_query(options) == {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "sendInitialEvents": "false",
        "timeoutSeconds": "0",
    }


def test_write_options():
    """All that was said is in the query."""
    options = WriteOptions(dry_run=True, force=True, field_manager="me", field_validation="Strict")
    assert requests.write_query(options) == {
        "dryRun": "All",
        "force": "true",
        "fieldManager": "me",
        "fieldValidation": "Strict",
    }


def test_delete_options():
    """Conditions of a delete are in its body."""
    options = DeleteOptions(
        uid="u", resource_version="3", propagation="Orphan", grace_period_seconds=0, dry_run=True
    )
    assert requests.delete_body(options) == (
        b'{"apiVersion":"v1","kind":"DeleteOptions",'
        b'"preconditions":{"uid":"u","resourceVersion":"3"},'
        b'"propagationPolicy":"Orphan","gracePeriodSeconds":0,"dryRun":["All"]}'
    )
    assert requests.delete_body(DeleteOptions()) == b'{"apiVersion":"v1","kind":"DeleteOptions"}'


@pytest.mark.parametrize("value", ["a\r\nb", "a\nb", "a\0b", "a\ud800"], ids=ascii)
def test_a_header_that_would_be_two_is_refused_without_its_value(value):
    """A value that would end its header is refused, and the error does not hold it."""
    with pytest.raises(ValueError, match="'Authorization'") as caught:
        requests.header_lines([("Authorization", value)])
    assert value not in str(caught.value)
