"""Virtual kinds over HTTP, which are answered and never stored: what is served of them."""

import asyncio

import msgspec
import pytest

from kubekit.plane.http.openapi import discovery, openapi_v2, openapi_v3
from kubekit.plane.registry.kinds import Kinds
from tests.support.kubekit.http_builders import connected, request, serving
from tests.support.kubekit.question_builders import echo, robots, virtual

RIDDLE, ROBOT = virtual("Riddle"), robots()
RUMOUR = virtual("Rumour", namespaced=True)
RIDDLES = "/apis/ask.io/v1/riddles"
RUMOURS = "/apis/ask.io/v1/namespaces/default/rumours"
MOOD = "/apis/ask.io/v1/namespaces/default/robots/r2/mood"


def answered(tmp_path, *requests):
    """The replies of a server that knows riddles, rumours and robots."""

    async def story():
        async with asyncio.timeout(10), serving(tmp_path) as server:
            plane = server.mounted("/")
            plane.registry.kinds = plane.kinds.with_kinds((RIDDLE, RUMOUR, ROBOT))
            for key in (("riddles", ""), ("rumours", ""), ("robots", "mood")):
                plane.registry.virtual_handlers[f"ask.io/{key[0]}", key[1]] = echo
            async with connected(server.port) as peer:
                return [await peer.ask(one) for one in requests]

    return asyncio.run(story())


def test_a_virtual_object_is_returned_with_its_status(tmp_path):
    """It was created, as far as HTTP is concerned; the answer knows who asked and about what."""
    replies = answered(
        tmp_path,
        request("POST", RIDDLES, b"{}"),
        request("POST", RUMOURS, b'{"metadata":{"namespace":"default"}}'),
        request("POST", MOOD, b'{"kind":"Mood","apiVersion":"ask.io/v1"}'),
    )

    assert [reply.code for reply in replies] == [201, 201, 201]
    answers = [msgspec.json.decode(reply.body) for reply in replies]
    assert [(one["kind"], one["status"]["asked by"]) for one in answers] == [
        ("Riddle", "tester"), ("Rumour", "tester"), ("Mood", "tester"),
    ]  # fmt: skip
    assert [one["status"]["of"] for one in answers] == ["", "", "r2"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", RIDDLES, 405),
        ("DELETE", RIDDLES, 405),
        ("GET", f"{RIDDLES}/x", 404),
        ("PUT", f"{RIDDLES}/x", 404),
        ("GET", "/apis/ask.io/v1/watch/riddles", 404),
        ("POST", "/apis/ask.io/v1/rumours", 404),
        ("GET", RUMOURS, 405),
        ("GET", MOOD, 405),
        ("PATCH", MOOD, 405),
        ("POST", MOOD.replace("mood", "state"), 404),
        ("POST", MOOD.replace("r2/mood", "r2"), 405),
    ],
)
def test_a_virtual_kind_has_no_other_verbs(tmp_path, method, path, status):
    """Nothing is there to be read, changed or watched."""
    (reply,) = answered(tmp_path, request(method, path, b"{}"))

    assert reply.code == status


def test_unknown_fields_are_reported_in_headers(tmp_path):
    """As for what is stored; and strictly they are refused."""
    body = b'{"spec":{"odd":1}}'
    lenient, strict = answered(
        tmp_path,
        request("POST", RIDDLES, body),
        request("POST", f"{RIDDLES}?fieldValidation=Strict&dryRun=All", body),
    )

    assert lenient.headers["warning"] == '299 - "unknown field \\"spec.odd\\""'
    assert strict.code == 400


def test_discovery_says_that_it_can_only_be_created():
    """Clients offer no more than that."""
    got = discovery.resource_list([RIDDLE, ROBOT])["resources"]
    by_name = {entry["name"]: entry for entry in got}

    assert by_name["riddles"]["verbs"] == ("create",)
    assert by_name["robots/mood"] == {
        "name": "robots/mood", "singularName": "", "namespaced": True,
        "group": "ask.io", "version": "v1", "kind": "Mood", "verbs": ("create",),
    }  # fmt: skip
    kinds = discovery.aggregated([RIDDLE, ROBOT], core=False, generation="v2")["items"]
    (version,) = kinds[0]["versions"]
    assert [resource["resource"] for resource in version["resources"]] == ["riddles", "robots"]
    assert version["resources"][1]["subresources"] == [
        {
            "subresource": "mood",
            "responseKind": {"group": "ask.io", "version": "v1", "kind": "Mood"},
            "verbs": ("create",),
        }
    ]


def test_openapi_describes_the_question_and_no_list():
    """There are no lists of what is not stored; what is asked of an object has its own schema."""
    document = msgspec.json.decode(
        msgspec.json.encode(openapi_v3.document([RIDDLE, RUMOUR, ROBOT]))
    )
    schemas, paths = document["components"]["schemas"], document["paths"]

    assert "io.k8s.api.ask.v1.Riddle" in schemas
    assert "io.k8s.api.ask.v1.Mood" in schemas
    assert "io.k8s.api.ask.v1.RiddleList" not in schemas
    assert set(paths[RIDDLES]) == {"parameters", "post"}
    assert "/apis/ask.io/v1/rumours" not in paths
    mood = paths["/apis/ask.io/v1/namespaces/{namespace}/robots/{name}/mood"]
    assert set(mood) == {"parameters", "post"}
    assert mood["post"]["x-kubernetes-group-version-kind"]["kind"] == "Mood"
    assert mood["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"].endswith(
        "io.k8s.api.ask.v1.Mood"
    )


def test_names_of_operations_are_distinct():
    """A client makes functions of them."""
    paths = openapi_v2.document(Kinds((RIDDLE, RUMOUR, ROBOT)))["paths"].values()
    names = [
        operation["operationId"]
        for path in paths
        for method, operation in path.items()
        if method != "parameters"
    ]

    assert len(names) == len(set(names))
