import pytest

from kubekit.plane.http.openapi import discovery
from tests.support.kubekit.described_kinds import CONFIG_MAP, KINDS, NAMESPACE, WIDGET, widgets

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
WIDGET_KIND = {"group": "example.com", "version": "v1", "kind": "Widget"}
SCALE_KIND = {"group": "autoscaling", "version": "v1", "kind": "Scale"}


def test_core_versions():
    """/api names the versions of the core group only."""
    assert discovery.api_versions(KINDS) == {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [],
    }


def test_named_groups():
    """/apis lists every group but the core one, with what to prefer."""
    got = discovery.group_list(KINDS)
    assert (got["kind"], got["apiVersion"]) == ("APIGroupList", "v1")
    assert [group["name"] for group in got["groups"]] == ["coordination.k8s.io", "example.com"]
    version = {"groupVersion": "example.com/v1", "version": "v1"}
    assert got["groups"][1] == {
        "name": "example.com",
        "versions": [version],
        "preferredVersion": version,
    }


def test_preferred_version_is_the_most_stable():
    """A stable version comes before a beta, a beta before an alpha, then the higher number."""
    kinds = [widgets(version) for version in ("v1alpha1", "v2beta1", "v1", "v1beta2")]
    got = discovery.group(kinds, "example.com")
    versions = [entry["version"] for entry in got["versions"]]
    assert versions == ["v1", "v2beta1", "v1beta2", "v1alpha1"]
    assert got["preferredVersion"]["version"] == "v1"


def test_classic_entries_of_a_kind_and_its_subresources():
    """A subresource is an entry of its own, with the kind that it answers with."""
    got = discovery.resource_list([WIDGET])
    assert (got["kind"], got["groupVersion"]) == ("APIResourceList", "example.com/v1")
    common = {"singularName": "", "namespaced": True, "verbs": ("get", "patch", "update")}
    assert got["resources"] == [
        {
            "name": "widgets",
            "singularName": "widget",
            "namespaced": True,
            "kind": "Widget",
            "verbs": ALL_VERBS,
            "shortNames": ("wd",),
            "categories": ("all",),
        },
        {"name": "widgets/scale", **common, **SCALE_KIND},
        {"name": "widgets/status", **common, "kind": "Widget"},
    ]


def test_what_a_kind_does_not_have_is_not_listed():
    """No short names, categories or subresources leave no empty lists behind."""
    (entry,) = discovery.resource_list([CONFIG_MAP])["resources"]
    assert set(entry) == {"name", "singularName", "namespaced", "kind", "verbs"}


def test_namespaces_are_not_deleted_all_at_once():
    """The namespace kind has every verb but deletecollection, and says it is not namespaced."""
    entry, finalize, _ = discovery.resource_list([NAMESPACE])["resources"]
    assert (finalize["name"], finalize["verbs"]) == ("namespaces/finalize", ("update",))
    assert entry["verbs"] == tuple(verb for verb in ALL_VERBS if verb != "deletecollection")
    assert entry["namespaced"] is False


@pytest.mark.parametrize("generation", ["v2", "v2beta1"])
def test_aggregated_groups(generation):
    """One document tells of all named groups, versions, kinds and subresources."""
    got = discovery.aggregated([CONFIG_MAP, WIDGET], core=False, generation=generation)
    assert got["apiVersion"] == f"apidiscovery.k8s.io/{generation}"
    (group,) = got["items"]
    (version,) = group["versions"]
    assert group["metadata"] == {"name": "example.com"}
    assert (version["version"], version["freshness"]) == ("v1", "Current")
    verbs = ("get", "patch", "update")
    assert version["resources"] == [
        {
            "resource": "widgets",
            "responseKind": WIDGET_KIND,
            "scope": "Namespaced",
            "singularResource": "widget",
            "verbs": ALL_VERBS,
            "shortNames": ("wd",),
            "categories": ("all",),
            "subresources": [
                {"subresource": "scale", "responseKind": SCALE_KIND, "verbs": verbs},
                {"subresource": "status", "responseKind": WIDGET_KIND, "verbs": verbs},
            ],
        }
    ]


def test_aggregated_core():
    """The core group has no name, and stands alone in its document."""
    got = discovery.aggregated(KINDS, core=True, generation="v2")
    (group,) = got["items"]
    assert group["metadata"] == {}
    scopes = {kind["resource"]: kind["scope"] for kind in group["versions"][0]["resources"]}
    assert scopes == {"namespaces": "Cluster", "configmaps": "Namespaced"}
