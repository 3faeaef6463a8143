"""Names from the server: one GET with a short limit, a cache of five seconds, and never an error."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import pytest

from compute.cli.completion import name_cache
from compute.cli.completion.live_names import live_names
from compute.cli.completion.quick_get import get
from kubekit.client.connection import Anonymous, Connection
from kubekit.client.credentials import BearerToken

WORKLOADS = {
    "items": [
        {
            "metadata": {"name": "web"},
            "spec": {
                "template": {
                    "spec": {"runtime": {"sandbox": {"containers": [{"image": "nginx:1"}]}}}
                }
            },
        },
        {
            "metadata": {"name": "vm"},
            "spec": {"template": {"spec": {"runtime": {"virtualMachine": {}}}}},
        },
    ]
}
INSTANCES = {
    "items": [
        {
            "metadata": {"name": "web-0"},
            "status": {"conditions": [{"type": "Ready", "status": "True", "reason": "Ready"}]},
        },
        {
            "metadata": {"name": "web-1"},
            "status": {
                "conditions": [{"type": "Ready", "status": "False", "reason": "QuotaExceeded"}]
            },
        },
        {"metadata": {"name": "web-2"}},
    ]
}
CITIES = {
    "items": [
        {"spec": {"displayName": "Dallas", "topology": {"topology.datum.net/city-code": "dfw"}}},
        {"spec": {"displayName": "second site", "topology": {}}},
    ]
}
NETWORKS = {"items": [{"metadata": {"name": "default"}}]}
HISTORY = {"data": {"1": '{"changes": "initial deploy"}', "2": '{"changes": "image: a to b"}'}}


@contextmanager
def served(answer: bytes | None) -> Iterator[tuple[str, list[str]]]:
    """A server that gives one answer to every request, or none; its address, and the requests."""
    requests: list[str] = []
    kept: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                requests.append(connection.recv(65536).decode())
                if answer is None:
                    kept.append(connection)  # and nothing is ever sent
                    continue
                connection.sendall(answer)
                connection.close()

        Thread(target=serve, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}", requests
        finally:
            server.shutdown(socket.SHUT_RDWR)
            for connection in kept:
                connection.close()


def ok(document: object) -> bytes:
    return (
        b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + json.dumps(document).encode()
    )


@pytest.mark.parametrize(
    ("resource", "document", "names"),
    [
        ("workloads", WORKLOADS, [("vm", "virtual machine"), ("web", "nginx:1")]),
        ("instances", INSTANCES, [("web-0", "Ready"), ("web-1", "QuotaExceeded"), ("web-2", "")]),
        ("cities", CITIES, [("DFW", "Dallas")]),
        ("networks", NETWORKS, [("default", "")]),
        ("revisions", HISTORY, [("1", "initial deploy"), ("2", "image: a to b")]),
        ("workloads", {"items": [{"metadata": {}}]}, []),
        ("workloads", ["not a list of objects"], []),
    ],
)
def test_the_names_of_each_resource(tmp_path, resource, document, names):
    """With a word about each; an answer that is not understood has no names."""
    with served(ok(document)) as (url, requests):
        variables = {"HOME": str(tmp_path), "COMPUTE_SERVER": url, "COMPUTE_NAMESPACE": "team"}
        assert live_names(resource, {}, "web", variables) == names
        assert live_names(resource, {}, "web", variables) == names
    assert len(requests) == 1  # the second time, the cache answers


def test_each_target_has_names_of_its_own(tmp_path):
    """Another project, or another server, must not offer the names of this one."""
    with served(ok(NETWORKS)) as (url, requests):
        variables = {"HOME": str(tmp_path), "COMPUTE_SERVER": url}
        live_names("networks", {}, "", variables)
        live_names("networks", {"project": "shop"}, "", variables)
        live_names("networks", {"namespace": "team"}, "", variables)
    paths = [request.split(" ")[1] for request in requests]
    project = "/apis/resourcemanager.miloapis.com/v1alpha1/projects/shop/control-plane"
    below = "/apis/networking.datumapis.com/v1alpha/namespaces"
    assert paths == [
        f"{below}/default/networks?limit=500",
        f"{project}{below}/default/networks?limit=500",
        f"{below}/team/networks?limit=500",
    ]


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"COMPUTE_SERVER": "http://127.0.0.1:1"},
        {"COMPUTE_SERVER": "no address"},
        {"DATUM_PLUGIN_API_VERSION": "1"},
        {"KUBECONFIG": "/nowhere"},
    ],
    ids=["nothing", "no server", "no address", "no project", "no file"],
)
def test_without_a_target_there_are_no_names(tmp_path, capfd, variables):
    """Nothing is printed either."""
    assert live_names("workloads", {}, "", {"HOME": str(tmp_path), **variables}) == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.0 403 Forbidden\r\n\r\n{}",
        b"HTTP/1.0 200 OK\r\n\r\nno json",
        b"",
        b"garbage",
        None,
    ],
    ids=["refused", "no json", "nothing", "garbage", "silent"],
)
def test_a_server_without_a_usable_answer_gives_nothing(answer):
    """A silent one costs the limit and no more, whatever it does with the connection."""
    with served(answer) as (url, _):
        assert get(Connection(server=url), "/version", 0.2) is None


def test_the_request_carries_the_credentials():
    """As the client of the commands does."""
    with served(ok({"a": 1})) as (url, requests):
        connection = Connection(server=f"{url}/base/", credentials=BearerToken("secret"))
        assert get(connection, "/version", 5.0) == {"a": 1}
    assert requests[0].startswith("GET /base/version HTTP/1.0\r\n")
    assert "\r\nAuthorization: Bearer secret\r\n" in requests[0]


def test_credentials_that_need_an_event_loop_get_one():
    """Those of a plugin run a process."""

    class Plugin(Anonymous, frozen=True):
        async def headers(self):
            import asyncio  # noqa: PLC0415 -- as a plugin does

            asyncio.get_running_loop()
            await asyncio.sleep(0)
            return {"Authorization": "Bearer fresh"}

    with served(ok({})) as (url, requests):
        assert get(Connection(server=url, credentials=Plugin()), "/version", 5.0) == {}
    assert "Authorization: Bearer fresh" in requests[0]


def test_the_cache_forgets_after_five_seconds(tmp_path):
    """A clock that was set back does not make entries last."""
    file = tmp_path / "cache" / "completion.json"
    name_cache.keep(file, "key", [("web", "")], 100.0)

    ages = {now: name_cache.cached(file, "key", now) for now in (99.0, 100.0, 104.9, 105.0)}

    assert ages == {99.0: None, 100.0: [("web", "")], 104.9: [("web", "")], 105.0: None}
    assert file.stat().st_mode & 0o077 == 0


def test_the_cache_stays_small(tmp_path):
    """Old entries are dropped, and there are few of the new ones."""
    file = tmp_path / "completion.json"
    name_cache.keep(file, "old", [], 1.0)
    for number in range(40):
        name_cache.keep(file, f"key{number}", [], 100.0)

    entries = json.loads(file.read_text())

    assert list(entries) == [f"key{number}" for number in range(24, 40)]


@pytest.mark.parametrize(
    "content", ["", "[]", '{"key": 5}', '{"key": [1]}', '{"key": ["a", "b"]}', "\x00"]
)
def test_a_damaged_cache_is_empty(tmp_path, content):
    """It is written anew."""
    file = tmp_path / "completion.json"
    file.write_text(content)

    assert name_cache.cached(file, "key", 1.0) is None
    name_cache.keep(file, "key", [("web", "")], 1.0)
    assert name_cache.cached(file, "key", 1.0) == [("web", "")]


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path):
    """Completion then asks the server each time."""
    (tmp_path / "cache").write_text("a file")

    name_cache.keep(tmp_path / "cache" / "completion.json", "key", [], 1.0)


def test_the_keys_reveal_nothing(tmp_path):
    """The flags of a target may hold a token."""
    variables = {"HOME": str(tmp_path), "COMPUTE_SERVER": "http://127.0.0.1:1"}
    live_names("workloads", {"token": "hunter2"}, "", variables | {"COMPUTE_TOKEN": "hunter3"})

    assert "hunter" not in (tmp_path / ".cache" / "compute" / "completion.json").read_text()
