"""Names: each decodes to what it was made from, and no two inputs share one."""

import string

import pytest
from hypothesis import given, strategies as st

from compute.api import names

LABEL = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", fullmatch=True)
CITY = st.one_of(
    st.text(string.ascii_uppercase, min_size=3, max_size=4),
    st.text(string.ascii_letters + string.digits + " -", min_size=1, max_size=12),
)
PARTS = st.tuples(LABEL, LABEL, CITY)
SHORT_PARTS = st.tuples(
    st.text("ab-", min_size=1, max_size=4).filter(lambda t: t.strip("-") == t),
    st.text("ab-", min_size=1, max_size=4).filter(lambda t: t.strip("-") == t),
    st.text("ABab- ", min_size=1, max_size=3),
)
SEGMENT = st.from_regex(r"[a-z0-9]([a-z0-9.-]{0,20}[a-z0-9])?", fullmatch=True)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("edge-cache", "americas", "DFW"), "edge-cache-americas-dfw"),
        (("web", "home", "LHR"), "web-home-lhr"),
        (("web", "us-east", "DFW"), "web-us-east-dfw--4b0eb099cf"),
        (("web", "home", "dfw"), "web-home-dfw--f046d9ed19"),
        (("web", "home", "New York"), "web-home-new-york--ed30985b15"),
    ],
    ids=["sample", "plain", "dashed placement", "lower-case city", "spaced city"],
)
def test_deployment_names(parts, expected):
    """A deployment is named by its parts; a hash follows where they could be read in two ways."""
    assert names.deployment(*parts) == expected


@pytest.mark.parametrize("length", [10, 43, 44, 63])
def test_w45_deployment_names_fit(length):
    """However long the Workload's name, an Instance's name still fits a label."""
    name = names.deployment("w" * length, "home", "DFW")

    assert len(name) <= names.DEPLOYMENT_LIMIT
    assert len(names.instance(name, 999)) <= names.LABEL_LIMIT


@given(PARTS, PARTS)
def test_no_two_deployments_share_a_name(one, other):
    """Different workload, placement or city: a different name, of legal characters and length."""
    name = names.deployment(*one)

    assert (name == names.deployment(*other)) == (one == other)
    assert len(name) <= names.DEPLOYMENT_LIMIT
    assert set(name) <= set(string.ascii_lowercase + string.digits + "-")


@given(SHORT_PARTS, SHORT_PARTS)
def test_ambiguous_parts_do_not_share_a_name(one, other):
    """Parts that join to the same text, or differ only in case, still give different names."""
    assert (names.deployment(*one) == names.deployment(*other)) == (one == other)


ODD = st.text("aA\0\1-\u212a\ud800", max_size=3)


@given(st.tuples(ODD, ODD, ODD), st.tuples(ODD, ODD, ODD))
def test_parts_that_no_validation_would_pass_do_not_share_a_name(one, other):
    """Nor does any other text: a preview names what is wrong before it is refused."""
    assert (names.deployment(*one) == names.deployment(*other)) == (one == other)


@pytest.mark.parametrize("name", [names.policy, lambda city: names.deployment("web", "home", city)])
def test_letters_that_look_alike_in_lower_case(name):
    """The Kelvin sign becomes an ordinary k in lower case, and is still another city."""
    assert name("\N{KELVIN SIGN}") != name("K")


@given(PARTS)
def test_plain_deployment_names_can_be_taken_apart(parts):
    """Decoding a deployment's name gives its parts, or None when it has a hash."""
    decoded = names.deployment_parts(names.deployment(*parts))

    assert decoded in (parts, None)


def test_deployment_parts_of_other_names():
    """A name with too few parts is no deployment's."""
    assert names.deployment_parts("web-dfw") is None
    assert names.deployment_parts("web-home-dfw") == ("web", "home", "DFW")


@given(PARTS, st.integers(0, 999))
def test_instance_names_can_be_taken_apart(parts, ordinal):
    """An Instance's name gives back its deployment and its ordinal."""
    owner = names.deployment(*parts)

    assert names.instance_parts(names.instance(owner, ordinal)) == (owner, ordinal)


@pytest.mark.parametrize(
    "name", ["web", "web-", "web-x", "web-01", "web--1x", "-0", "web-٣", "web-" + "1" * 5000, ""]
)
def test_names_that_are_no_slot(name):
    """Only a deployment, a dash and a plain number name a slot."""
    assert names.instance_parts(name) is None


@given(LABEL)
def test_prefixed_names_can_be_taken_apart(name):
    """Claims, hub namespaces, execution namespaces and histories give back what they are of."""
    assert names.claim_instance(names.claim(name)) == name
    assert names.hub_namespace_uid(names.hub_namespace(name)) == name
    assert names.execution_cluster(names.execution_namespace(name)) == name
    assert names.history_workload(names.history(name)) == name


@pytest.mark.parametrize(
    "decode",
    [
        names.claim_instance,
        names.hub_namespace_uid,
        names.execution_cluster,
        names.history_workload,
    ],
)
def test_foreign_names_are_not_ours(decode):
    """A name without the prefix, or with nothing behind it, is not one of ours."""
    assert decode("foreign") is None
    assert decode(names.claim("")) is None
    assert decode(names.hub_namespace("")) is None


def test_w22_policies_of_two_spellings_do_not_fight():
    """LAX and lax are two cities, so they have two policies."""
    assert names.policy("LAX") == "city-lax"
    assert names.policy("lax") != names.policy("LAX")


@given(CITY, CITY)
def test_no_two_cities_share_a_policy(one, other):
    """Different cities have different policies."""
    assert (names.policy(one) == names.policy(other)) == (one == other)


@given(st.text(string.ascii_uppercase, min_size=60, max_size=80))
def test_long_city_names_fit(city):
    """A policy's name fits a label whatever the city is called."""
    assert len(names.policy(city)) <= names.LABEL_LIMIT


@given(LABEL, st.integers(0, 30))
def test_network_binding_names_can_be_taken_apart(owner, interface):
    """A NetworkBinding's name gives back its deployment and its interface."""
    assert names.network_binding_parts(names.network_binding(owner, interface)) == (
        owner,
        interface,
    )


@pytest.mark.parametrize(
    "name", ["web-net-", "web-net-01", "-net-0", "web-0", "web-net-x", "web-net-" + "1" * 5000]
)
def test_names_that_are_no_network_binding(name):
    """Only a deployment, the infix and a plain number name a NetworkBinding."""
    assert names.network_binding_parts(name) is None


@given(LABEL, st.sampled_from(["WorkloadDeployment", "ConfigMap"]))
def test_resource_bindings_are_named_as_karmada_names_them(name, kind):
    """Karmada's binding has the object's name and, in lower case, its kind."""
    assert names.resource_binding(name, kind) == f"{name}-{kind.lower()}"


@given(st.tuples(LABEL, LABEL), st.tuples(LABEL, LABEL))
def test_no_two_networks_share_a_context(one, other):
    """Different networks or locations have different contexts."""
    assert (names.network_context(*one) == names.network_context(*other)) == (one == other)


def test_names_of_other_services():
    """Names that neighbours chose are spelled as they spell them."""
    assert names.network_context("default", "lab-dfw-1") == "default--lab-dfw-1"
    assert names.subnet_claim("default--lab-dfw-1") == "default--lab-dfw-1-0"
    assert names.resource_binding("web-home-dfw", "WorkloadDeployment") == (
        "web-home-dfw-workloaddeployment"
    )
    assert names.grant("acme") == "acme-compute-quota"
    assert names.bucket("compute.datumapis.com/instances", "Project", "acme") == (
        "bucket-1273358b4d5e9eb2c074c459df3ce4aed517aea2af17882f26aced7605e5da23"
    )


@given(st.lists(SEGMENT, min_size=1, max_size=2).map("/".join))
def test_t2_cluster_labels_decode_to_the_cluster(name):
    """Encoding a cluster's name for a label loses nothing."""
    cluster = names.cluster(name)

    assert names.decode_cluster(names.encode_cluster(cluster)) == cluster


@pytest.mark.parametrize(
    ("label", "cluster", "key"),
    [
        ("cluster-acme", "acme", "acme"),
        ("cluster-_p1", "/p1", "p1"),
        ("cluster-org_shop", "org/shop", "shop"),
    ],
)
def test_t2_cluster_labels(label, cluster, key):
    """A label names a cluster by its path, and a plane is engaged under the last segment."""
    assert names.decode_cluster(label) == cluster
    assert names.encode_cluster(names.cluster(cluster)) == label
    assert names.cluster_key(names.decode_cluster(label)) == key


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda: names.cluster(""), "must not be empty"),
        (lambda: names.decode_cluster("cluster-"), "must not be empty"),
        (lambda: names.cluster_key(names.cluster("org/")), "must not be empty"),
        (lambda: names.decode_cluster("acme"), "does not start with 'cluster-'"),
        (lambda: names.encode_cluster(names.cluster("a_b")), "contains '_'"),
        (lambda: names.encode_cluster(names.cluster("a" * 56)), "longer than 55 characters"),
    ],
    ids=["empty", "empty label", "empty key", "no prefix", "underscore", "too long"],
)
def test_t2_invalid_cluster_names(attempt, words):
    """An empty, ambiguous or overlong cluster name is refused where it would be made."""
    with pytest.raises(ValueError, match=words):
        attempt()


HUB_NAMESPACE = "ns-1f0c6a52-6a54-4a34-8a3c-0a41c1f3a001"


@pytest.mark.parametrize(
    ("namespace", "name", "kind", "work"),
    [
        (HUB_NAMESPACE, "web-default-dfw", "WorkloadDeployment", "web-default-dfw-868d8ff995"),
        ("ada", "web", "WorkloadDeployment", "web-f5844857"),
        ("bob", "web", "WorkloadDeployment", "web-6978d9c7b4"),
        ("", HUB_NAMESPACE, "Namespace", f"{HUB_NAMESPACE}-775b6d778f"),
        ("", "System:Viewer", "ClusterRole", "system.viewer-68f59547f"),
    ],
)
def test_a_work_has_the_name_that_karmada_gives_it(namespace, name, kind, work):
    """The expected names were computed by Karmada 1.16 itself."""
    assert names.work(namespace, name, kind) == work


@pytest.mark.parametrize(
    ("cell", "unnamed"),
    [
        (names.unnamed_cell("705ab4f5-6393-11e8-b7cc-42010a800002"), True),
        ("cell-dfw", False),
        ("dfw", False),
        ("", False),
        ("cell-705ab4f5-6393-11e8-b7cc-42010a800002-2", False),
    ],
)
def test_a_cell_without_a_name_of_its_own_is_recognized(cell, unnamed):
    """Its name is made from the uid of its cluster."""
    assert names.is_unnamed_cell(cell) is unnamed


def test_the_works_of_objects_that_differ_only_in_their_namespace_are_apart():
    """They meet in their cluster's namespace of Works."""
    ada, bob = (names.work(namespace, "web", "WorkloadDeployment") for namespace in ("ada", "bob"))

    assert ada.startswith("web-")
    assert bob.startswith("web-")
    assert ada != bob


@pytest.mark.parametrize("name", ["web-home-dfw-0", "a", "w" * 63])
def test_a_service_has_the_name_of_its_instance(name):
    assert names.service(name) == name


@pytest.mark.parametrize("name", ["2048-home-dfw-0", "web.home-dfw-0", "w" * 64])
def test_names_that_a_service_cannot_have(name):
    """A Service's name is a label that starts with a letter; each Instance still has its own."""
    found = names.service(name)

    assert found.startswith("i-")
    assert len(found) <= names.LABEL_LIMIT
    assert "." not in found
    assert found != names.service(name + "0")
