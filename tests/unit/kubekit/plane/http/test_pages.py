import msgspec
import pytest

from kubekit.plane.http.interfaces import Attributes
from kubekit.plane.http.pages import Pages
from kubekit.plane.registry.kinds import Kinds
from tests.support.kubekit.described_kinds import KINDS, WIDGET, Described, asking, with_plane

V2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
V2BETA1 = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
WIDGETS_V3 = "/openapi/v3/apis/example.com/v1"


@pytest.fixture
def answer(tmp_path):
    """What the pages of a plane answer to one request."""
    pages = Pages()

    def ask(request, kinds=KINDS):
        async def scenario(plane):
            return pages.answer(Described(plane.registry, kinds), request)

        return with_plane(tmp_path, scenario)

    return ask


def read(response):
    return msgspec.json.decode(response.body)


def header(response, name):
    return dict(response.headers).get(name)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/api", "APIVersions"),
        ("/api/", "APIVersions"),
        ("/api/v1", "APIResourceList"),
        ("/apis", "APIGroupList"),
        ("/apis/example.com", "APIGroup"),
        ("/apis/example.com/", "APIGroup"),
        ("/apis/example.com/v1", "APIResourceList"),
    ],
)
def test_discovery_pages(answer, path, kind):
    """Discovery is at the well-known paths, with or without a slash at the end."""
    got = answer(asking(path))
    assert (got.status, got.content_type) == (200, "application/json")
    assert read(got)["kind"] == kind


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/api/v2",
        "/apis/nope",
        "/apis/example.com/v2",
        "/api/v1/configmaps",
        "/apis/example.com/v1/widgets",
        "/apis/example.com/v1/namespaces/a/widgets/b",
        "/openapi",
        "/openapi/v3/apis/nope/v1",
        "/version/more",
        "/livez/nope",
        "/metrics/more",
        "/nope",
    ],
)
def test_no_such_page(answer, path):
    """Objects, and what is not there, are for others to answer."""
    assert answer(asking(path)) is None


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        (f"{V2},{V2BETA1},application/json", V2),
        (f"{V2BETA1},application/json", V2BETA1),
        (f"{V2};q=0.1,application/json", "application/json"),
        (
            "application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList,*/*",
            "application/json",
        ),
        ("application/json;as=Table;g=meta.k8s.io;v=v1,application/json", "application/json"),
        ("application/*", "application/json"),
    ],
)
@pytest.mark.parametrize("path", ["/api", "/apis"])
def test_discovery_in_the_form_that_is_liked_best(answer, path, accept, content_type):
    """The first form that the client names and the plane has is what it gets."""
    got = answer(asking(path, accept=accept))
    assert (got.status, got.content_type) == (200, content_type)
    assert (read(got)["kind"] == "APIGroupDiscoveryList") is ("as=" in content_type)


@pytest.mark.parametrize("path", ["/api", "/apis", "/api/v1", "/openapi/v2", "/openapi/v3"])
@pytest.mark.parametrize(
    "accept",
    ["application/yaml", "application/vnd.kubernetes.protobuf", "application/json;as=Table"],
)
def test_only_json(answer, path, accept):
    """A client that does not accept JSON gets a list of what there is."""
    got = answer(asking(path, accept=accept))
    assert got.status == 406
    assert read(got)["reason"] == "NotAcceptable"


@pytest.mark.parametrize("path", ["/apis", "/version", "/livez", "/metrics", "/openapi/v2"])
def test_pages_are_only_read(answer, path):
    """Another method than GET is refused as such."""
    got = answer(asking(path, method="POST"))
    assert (got.status, read(got)["reason"]) == (405, "MethodNotAllowed")


def test_what_the_client_has_is_not_sent_again(answer):
    """A client that names the tag of its copy hears that it is still good."""
    first = answer(asking("/apis", accept=V2))
    again = answer(asking("/apis", accept=V2, if_none_match=header(first, "etag")))
    assert (again.status, again.body) == (304, b"")
    assert header(again, "etag") == header(first, "etag")


def test_another_set_of_kinds_has_other_pages(answer):
    """A kind that comes shows at once, and changes the tag."""
    fewer = Kinds(tuple(kind for kind in KINDS if kind is not WIDGET))
    before, after = answer(asking("/apis"), fewer), answer(asking("/apis"), KINDS)
    assert header(before, "etag") != header(after, "etag")
    assert b"example.com" not in before.body
    assert b"example.com" in after.body


def test_the_index_leads_to_each_document(answer):
    """Every address in the OpenAPI index is answered, and may be cached indefinitely."""
    paths = read(answer(asking("/openapi/v3")))["paths"]
    assert set(paths) == {"api/v1", "apis/example.com/v1", "apis/coordination.k8s.io/v1"}
    for name in paths:
        path, _, query = paths[name]["serverRelativeURL"].partition("?")
        got = answer(asking(path, query))
        assert got.status == 200
        assert "immutable" in header(got, "cache-control")


def test_without_a_hash_nothing_is_cached_indefinitely(answer):
    """A request without a hash must be revalidated."""
    got = answer(asking(WIDGETS_V3))
    assert header(got, "cache-control") == "no-cache, private"


def test_an_old_hash_leads_to_the_present_document(answer):
    """A client with yesterday's address is sent on, relative to wherever the plane is mounted."""
    got = answer(asking(WIDGETS_V3, "hash=OLD"))
    present = header(answer(asking(WIDGETS_V3)), "etag").strip('"')
    assert got.status == 301
    assert header(got, "location") == f"?hash={present}"
    assert header(got, "cache-control") is None


def test_openapi_v2(answer):
    """One document holds all kinds."""
    assert read(answer(asking("/openapi/v2")))["swagger"] == "2.0"


@pytest.mark.parametrize("accept", [PROTOBUF, f"{PROTOBUF},application/json"])
def test_openapi_v2_as_protobuf(answer, accept):
    """A client that asks for protobuf by name gets it, under its registered name."""
    got = answer(asking("/openapi/v2", accept=accept))
    assert got.content_type == "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
    assert got.body.startswith(b"\x0a\x032.0")
    again = answer(asking("/openapi/v2", accept=accept, if_none_match=header(got, "etag")))
    assert again.status == 304


def test_version_and_health(answer):
    """The small pages are there too."""
    assert read(answer(asking("/version")))["major"] == "1"
    assert answer(asking("/readyz", "verbose")).body.endswith(b"readyz check passed\n")


def test_requests_show_in_the_metrics(tmp_path):
    """What the server tells of a request is on the metrics page."""
    pages = Pages()

    async def scenario(plane):
        watched = Attributes(verb="watch", resource="configmaps", version="v1")
        pages.observe(plane, watched, 200, 0.1)
        return pages.answer(plane, asking("/metrics"))

    got = with_plane(tmp_path, scenario)
    assert got.content_type.startswith("text/plain; version=0.0.4")
    assert b'resource="configmaps"' in got.body
