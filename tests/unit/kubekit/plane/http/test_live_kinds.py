"""What the pages tell follows the definitions of a plane, from one request to the next."""

import asyncio
from typing import Any

import msgspec

from kubekit.plane.http.interfaces import ServerOptions
from kubekit.plane.http.pages import Pages
from tests.support.kubekit.definition_builders import definition, version
from tests.support.kubekit.http_builders import (
    QUICK,
    Peer,
    Reply,
    connected,
    open_plane,
    request,
    serving,
)

SEAMS = ServerOptions(site=Pages(), limits=QUICK)
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"
AGGREGATED = "Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
TABLE = "Accept: application/json;as=Table;g=meta.k8s.io;v=v1"


class Client:
    """Requests over one connection, each answered before the next."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def get(self, path: str, *headers: str) -> Reply:
        return await self._peer.ask(request("GET", path, None, "", *headers))

    async def post(self, path: str, document: object) -> Reply:
        return await self._peer.ask(request("POST", path, msgspec.json.encode(document)))

    async def put(self, path: str, document: object) -> Reply:
        return await self._peer.ask(request("PUT", path, msgspec.json.encode(document)))

    async def delete(self, path: str) -> Reply:
        return await self._peer.ask(request("DELETE", path))

    async def until_gone(self, path: str) -> None:
        while (await self.get(path)).code != 404:  # noqa: ASYNC110 -- there is no event to wait for
            await asyncio.sleep(0)


def outcome_of(tmp_path, story):
    """The result of a story on a server."""

    async def within():
        async with serving(tmp_path, SEAMS) as server, connected(server.port) as peer:
            return await story(Client(peer))

    return asyncio.run(within())


def widget(name: str) -> dict[str, object]:
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}}


def test_a_kind_comes_and_goes(tmp_path):
    """Its objects, its group and its schema are there at the very next request, and gone so."""

    async def story(client):
        codes = [(await client.get("/apis/example.com/v1")).code]
        codes.append((await client.post(DEFINITIONS, definition())).code)
        codes.append((await client.post(WIDGETS, widget("one"))).code)
        pages = ("/apis/example.com", "/apis/example.com/v1", "/openapi/v3/apis/example.com/v1")
        codes += [(await client.get(page)).code for page in pages]
        await client.delete(f"{DEFINITIONS}/widgets.example.com")
        await client.until_gone(f"{DEFINITIONS}/widgets.example.com")
        codes += [(await client.get(page)).code for page in (*pages, WIDGETS)]
        return codes

    assert outcome_of(tmp_path, story) == [404, 201, 201, 200, 200, 200, 404, 404, 404, 404]


def test_every_page_has_another_tag(tmp_path):
    """A client that keeps what it got finds out that there is more."""
    pages = [("/apis",), ("/apis", AGGREGATED), ("/openapi/v2",), ("/openapi/v3",)]

    async def story(client):
        before = [(await client.get(*page)).headers["etag"] for page in pages]
        await client.post(DEFINITIONS, definition())
        after = [(await client.get(*page)).headers["etag"] for page in pages]
        return [old == new for old, new in zip(before, after, strict=True)]

    assert outcome_of(tmp_path, story) == [False] * 4


def test_only_the_schemas_that_changed_have_another_address(tmp_path):
    """The others need not be fetched again."""

    async def story(client):
        await client.post(DEFINITIONS, definition())
        before = (await client.get("/openapi/v3")).document["paths"]
        changed = (await client.get(f"{DEFINITIONS}/widgets.example.com")).document
        changed["spec"]["versions"][0]["deprecated"] = True
        changed["spec"]["versions"].append(version("v2", stored=False))
        await client.put(f"{DEFINITIONS}/widgets.example.com", changed)
        after = (await client.get("/openapi/v3")).document["paths"]
        return {name for name in after if before.get(name) != after[name]}

    assert outcome_of(tmp_path, story) == {"apis/example.com/v2"}


def test_columns_follow_the_definition(tmp_path):
    """A table has the columns that the definition has now."""

    async def columns(client):
        reply = await client.get(WIDGETS, TABLE)
        return [column["name"] for column in reply.document["columnDefinitions"]]

    async def story(client):
        await client.post(DEFINITIONS, definition())
        before = await columns(client)
        changed = (await client.get(f"{DEFINITIONS}/widgets.example.com")).document
        column = {"name": "Size", "type": "integer", "jsonPath": ".spec.size"}
        changed["spec"]["versions"][0]["additionalPrinterColumns"] = [column]
        await client.put(f"{DEFINITIONS}/widgets.example.com", changed)
        return before, await columns(client)

    assert outcome_of(tmp_path, story) == (["Name", "Age"], ["Name", "Size"])


def test_definitions_are_shown_as_kubectl_shows_them(tmp_path):
    """By name, and by when they were created."""

    async def story(client):
        await client.post(DEFINITIONS, definition())
        table = (await client.get(DEFINITIONS, TABLE)).document
        return [c["name"] for c in table["columnDefinitions"]], table["rows"][0]["cells"]

    assert outcome_of(tmp_path, story) == (
        ["Name", "Created At"],
        ["widgets.example.com", "2026-03-01T12:00:00Z"],
    )


def test_a_kind_that_is_about_to_go_offers_less(tmp_path):
    """Nothing can be created or changed while its definition is being deleted."""

    async def story(client):
        await client.post(DEFINITIONS, definition())
        held = widget("held")
        held["metadata"] = {"name": "held", "finalizers": ["example.com/hold"]}
        await client.post(WIDGETS, held)
        await client.delete(f"{DEFINITIONS}/widgets.example.com")
        [resource] = (await client.get("/apis/example.com/v1")).document["resources"]
        return resource["verbs"], (await client.post(WIDGETS, widget("late"))).document["message"]

    assert outcome_of(tmp_path, story) == (
        ["delete", "deletecollection", "get", "list", "watch"],
        'widgets.example.com "late" is forbidden: create not allowed while custom resource '
        "definition is terminating",
    )


def test_the_schema_carries_what_clients_work_with(tmp_path):
    """Group, version and kind, and every extension of the definition's schema."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {
                    "port": {"x-kubernetes-int-or-string": True},
                    "parts": {
                        "type": "array",
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["name"],
                        "items": {
                            "type": "object",
                            "required": ["name"],
                            "properties": {"name": {"type": "string"}},
                        },
                    },
                },
            }
        },
    }
    made = definition("widgets", version(schema={"openAPIV3Schema": schema}))

    async def story(client):
        await client.post(DEFINITIONS, made)
        page = (await client.get("/openapi/v3/apis/example.com/v1")).document
        found = page["components"]["schemas"]["com.example.v1.Widget"]
        return found["x-kubernetes-group-version-kind"], found["properties"]["spec"]

    triple = [{"group": "example.com", "version": "v1", "kind": "Widget"}]
    assert outcome_of(tmp_path, story) == (triple, schema["properties"]["spec"])


def test_addresses_of_a_plane_below_a_prefix(tmp_path):
    """They lead there from the root of the server."""

    async def within():
        async with serving(tmp_path / "root", SEAMS) as server, connected(server.port) as peer:
            plane = await open_plane(tmp_path / "hub")
            server.mount("/clusters/hub", plane)
            client = Client(peer)
            paths = (await client.get("/clusters/hub/openapi/v3")).document["paths"]
            address = paths["api/v1"]["serverRelativeURL"]
            root = (await client.get("/openapi/v3")).document["paths"]["api/v1"]
            codes = [(await client.get(a)).code for a in (address, root["serverRelativeURL"])]
            server.unmount("/clusters/hub")
            await plane.close()
            return address.partition("?")[0], codes

    assert asyncio.run(within()) == ("/clusters/hub/openapi/v3/api/v1", [200, 200])
