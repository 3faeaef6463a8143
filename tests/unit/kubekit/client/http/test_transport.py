"""What is sent, and what is made of the answers, over a real socket."""

import gzip
import logging

import msgspec
import pytest

from kubekit.api.errors import BadRequest, Conflict, Invalid, NotFound, Unauthorized, Unavailable
from kubekit.client.connection import Impersonation, Misconfigured, NoCredentials
from kubekit.client.http.settings import HttpSettings
from kubekit.client.options import (
    PLAIN_DELETE,
    PLAIN_WRITE,
    DeleteOptions,
    ListOptions,
    PatchType,
    WriteOptions,
)
from tests.unit.kubekit.client.http.scripted import (
    BODY,
    DOCUMENT,
    MAPS,
    ONE,
    Shown,
    opened,
    reply,
    run,
    saying,
    serving,
    status,
)

ROOM = "/api/v1/namespaces/room/configmaps"
MANAGED = WriteOptions(field_manager="me")


@pytest.mark.parametrize(
    ("ask", "line", "body", "media"),
    [
        (lambda t: t.get(ONE), f"GET {ROOM}/one", b"", ""),
        (lambda t: t.get(ONE, "7"), f"GET {ROOM}/one?resourceVersion=7", b"", ""),
        (
            lambda t: t.list(MAPS, ListOptions(label_selector="a=b,c")),
            f"GET {ROOM}?labelSelector=a%3Db%2Cc",
            b"",
            "",
        ),
        (
            lambda t: t.create(MAPS, {"a": 1}, MANAGED),
            f"POST {ROOM}?fieldManager=me",
            b'{"a":1}',
            "application/json",
        ),
        (
            lambda t: t.update(ONE, {"a": 1}, PLAIN_WRITE),
            f"PUT {ROOM}/one",
            b'{"a":1}',
            "application/json",
        ),
        (
            lambda t: t.patch(ONE, PatchType.MERGE, {"a": None, "b": [1]}, PLAIN_WRITE),
            f"PATCH {ROOM}/one",
            b'{"a":null,"b":[1]}',
            "application/merge-patch+json",
        ),
        (
            lambda t: t.delete(ONE, PLAIN_DELETE),
            f"DELETE {ROOM}/one",
            b'{"apiVersion":"v1","kind":"DeleteOptions"}',
            "application/json",
        ),
        (
            lambda t: t.delete_collection(
                MAPS, ListOptions(field_selector="x=y"), DeleteOptions(dry_run=True)
            ),
            f"DELETE {ROOM}?fieldSelector=x%3Dy",
            b'{"apiVersion":"v1","kind":"DeleteOptions","dryRun":["All"]}',
            "application/json",
        ),
    ],
    ids=["get", "get at", "list", "create", "update", "patch", "delete", "delete collection"],
)
def test_each_verb_is_one_request(ask, line, body, media):
    """Every verb is sent as Kubernetes knows it, once, and its document comes back."""

    async def asked():
        async with serving() as server, opened(server) as transport:
            return await ask(transport), server.requests

    document, requests = run(asked())
    assert document == DOCUMENT
    assert [(one.line, one.body) for one in requests] == [(line, body)]
    assert requests[0].headers.get("content-type", "") == media


def test_any_path_can_be_asked():
    """What belongs to no kind is asked by its path, and comes as it is."""

    async def asked():
        step = reply(body=b"ok", media="text/plain")
        async with serving(step) as server, opened(server.url + "/clusters/a/") as transport:
            answer = await transport.call("POST", "/x", {"a": "b c"}, b"x", "text/plain")
            return answer, server.requests[0]

    answer, request = run(asked())
    assert answer == b"ok"
    assert (request.line, request.body) == ("POST /clusters/a/x?a=b+c", b"x")
    assert request.headers["content-type"] == "text/plain"


def test_who_asks_is_in_every_request():
    """The agent, the token and the impersonated user are sent, one header for each group."""

    async def asked():
        who = Impersonation(user="ann", groups=("a", "b"))
        settings = HttpSettings(user_agent="me/1")
        async with serving() as server:
            async with opened(server, settings, impersonation=who) as transport:
                await transport.get(ONE)
            return server.requests[0].headers, server.port

    headers, port = run(asked())
    assert headers == {
        "host": f"127.0.0.1:{port}",
        "user-agent": "me/1",
        "accept": "application/json",
        "accept-encoding": "gzip",
        "impersonate-user": "ann",
        "impersonate-group": "b",  # the last of them, as the test's server keeps one
        "authorization": "Bearer s3cr3t-t0ken",
    }


def test_compression_can_be_switched_off():
    """Who wants no compressed answers asks for none."""

    async def asked():
        async with serving() as server, opened(server, compression=False) as transport:
            await transport.get(ONE)
            return server.requests[0].headers

    assert "accept-encoding" not in run(asked())


def test_connections_are_used_again():
    """Requests one after the other share a connection."""

    async def asked():
        async with serving() as server, opened(server) as transport:
            for _ in range(5):
                await transport.get(ONE)
            return server.connections

    assert run(asked()) == 1


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_a_compressed_answer_is_unpacked(size):
    """An answer may be compressed, and come in any pieces."""
    document = {"data": {"x": "y" * 100_000}}
    packed = gzip.compress(msgspec.json.encode(document))
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
    pieces = [packed[at : at + size] for at in range(0, len(packed), size)]

    async def asked():
        async with serving(saying(head, *pieces)) as server, opened(server) as transport:
            return await transport.get(ONE)

    assert run(asked()) == document


@pytest.mark.parametrize(
    ("packed", "why"),
    [
        (b"no gzip at all", "its compression is damaged"),
        (gzip.compress(BODY)[:-9], "ended too early"),
        (gzip.compress(b"{" + b" " * 100_000 + b"}"), "more than 50000 bytes"),
    ],
    ids=["garbage", "cut", "bomb"],
)
def test_a_compressed_answer_that_is_none(packed, why):
    """What cannot be unpacked, or is too much, is an error that says so."""

    async def asked():
        step = reply(body=packed, headers=(("Content-Encoding", "gzip"),))
        settings = HttpSettings(largest_answer=50_000)
        async with serving(step) as server, opened(server, settings) as transport:
            await transport.get(ONE)

    with pytest.raises(Unavailable, match=why):
        run(asked())


def test_an_answer_beyond_the_limit_is_an_error():
    """No server can fill the memory."""

    async def asked():
        settings = HttpSettings(largest_answer=1000)
        step = reply(body=b"{" + b" " * 2000 + b"}")
        async with serving(step) as server, opened(server, settings) as transport:
            await transport.get(ONE)

    with pytest.raises(Unavailable, match="more than 1000 bytes"):
        run(asked())


def test_headers_beyond_the_limit_are_an_error():
    """No server can fill the memory with headers either."""

    async def asked():
        headers = tuple((f"X-{number}", "x" * 1000) for number in range(1000))
        async with serving(reply(headers=headers)) as server, opened(server) as transport:
            await transport.get(ONE)

    with pytest.raises(Unavailable, match="bytes outside of the body"):
        run(asked())


def test_an_answer_may_end_with_its_connection():
    """Without a length, the end of the connection is the end of the response."""

    async def asked():
        step = saying(b"HTTP/1.0 200 OK\r\n\r\n", BODY, close=True)
        async with serving(step) as server, opened(server) as transport:
            return [await transport.get(ONE), await transport.get(ONE)], server.connections

    assert run(asked()) == ([DOCUMENT, DOCUMENT], 2)


def test_a_server_may_say_that_it_listens():
    """An interim answer is passed over."""

    async def asked():
        step = saying(b"HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n", b"HTTP/1.1 200 OK\r\n")
        rest = saying(b"Content-Length: %d\r\n\r\n%s" % (len(BODY), BODY))

        async def both(writer):
            await step(writer)
            await rest(writer)

        async with serving(both) as server, opened(server) as transport:
            return await transport.create(MAPS, {}, PLAIN_WRITE)

    assert run(asked()) == DOCUMENT


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", object(), [float("nan")]])
def test_what_json_does_not_have_is_not_sent(value):
    """A document that cannot be written is refused here, and the server hears nothing."""

    async def asked():
        async with serving() as server, opened(server) as transport:
            with pytest.raises(BadRequest, match="cannot be written as JSON"):
                await transport.create(MAPS, {"none": None, "x": {"y": value}}, PLAIN_WRITE)
            return server.requests

    assert run(asked()) == []


@pytest.mark.parametrize(
    ("code", "reason", "kind"),
    [(404, "NotFound", NotFound), (409, "Conflict", Conflict), (422, "Invalid", Invalid)],
)
def test_refusals_are_our_own_errors(code, reason, kind):
    """A Status becomes the error it stands for, in the server's words, and notes who said so."""

    async def asked():
        step = reply(code, status(code, reason, "because", name="one"))
        async with serving(step) as server, opened(server) as transport:
            with pytest.raises(kind) as caught:
                await transport.get(ONE)
            return caught.value, server.url

    error, url = run(asked())
    assert error.message == "because"
    assert error.details.name == "one"
    assert error.__notes__ == [f'GET configmaps "one" in namespace "room", answered by {url}']


def test_warnings_are_passed_on():
    """The warnings of a server reach the handler, unquoted, one at a time."""
    warnings: list[str] = []

    async def asked():
        headers = (
            ("Warning", '299 - "use \\"v2\\", please"'),
            ("Warning", '299 - "one", 299 kube "two" "Thu, 01 Jan 2026 00:00:00 GMT"'),
            ("Warning", '110 - "stale"'),
        )
        settings = HttpSettings(warn=warnings.append)
        async with serving(reply(headers=headers)) as server, opened(server, settings) as transport:
            await transport.get(ONE)

    run(asked())
    assert warnings == ['use "v2", please', "one", "two"]


def test_warnings_are_logged_once(caplog):
    """By default each text is logged once, with the server's address.

    The text is in the message: a program with a plain log shows nothing else.
    """

    async def asked():
        step = reply(headers=(("Warning", '299 - "old"'),))
        async with serving(step, step) as server, opened(server) as transport:
            await transport.get(ONE)
            await transport.get(ONE)
            return server.url

    with caplog.at_level(logging.WARNING):
        url = run(asked())
    logged = [(vars(r)["server"], r.getMessage()) for r in caplog.records]
    assert logged == [(url, "server warns: 'old'")]


def test_every_attempt_is_reported():
    """The observer is called with each attempt: the method, the code and the host."""
    attempts: list[tuple[str, int, str]] = []

    async def asked():
        steps = (reply(503, b"", headers=(("Retry-After", "0"),)), reply(404, b"x", "text/plain"))
        settings = HttpSettings(observe=lambda *attempt: attempts.append(attempt))
        async with serving(*steps) as server, opened(server, settings) as transport:
            with pytest.raises(NotFound):
                await transport.delete(ONE, PLAIN_DELETE)
            return server.port

    port = run(asked())
    assert attempts == [("DELETE", 503, f"127.0.0.1:{port}"), ("DELETE", 404, f"127.0.0.1:{port}")]


def test_a_401_is_asked_again_once_with_renewed_credentials():
    """Credentials are renewed once, and the request is sent with the new ones."""

    async def asked():
        shown = Shown("old", "new")
        steps = (reply(401, status(401, "Unauthorized", "Unauthorized")),)
        async with serving(*steps) as server, opened(server, credentials=shown) as transport:
            await transport.create(MAPS, {}, PLAIN_WRITE)
            return [request.headers["authorization"] for request in server.requests]

    assert run(asked()) == ["Bearer old", "Bearer new"]


@pytest.mark.parametrize(("next_token", "sent"), [("", 1), ("new", 2)])
def test_a_401_that_stays_is_an_error(next_token, sent):
    """A second 401, or credentials that cannot be renewed, end it; the error says what to check."""

    async def asked():
        shown = Shown("old", next_token)
        step = reply(401, status(401, "Unauthorized", "Unauthorized"))
        async with serving(step, step) as server, opened(server, credentials=shown) as transport:
            with pytest.raises(
                Unauthorized, match="check the token, certificate or exec"
            ) as caught:
                await transport.get(ONE)
            return caught.value.code, len(server.requests), shown.renewals

    assert run(asked()) == (401, sent, 1)


def test_a_token_that_is_no_header_is_not_sent():
    """A token with a line break in it is refused without being shown."""

    async def asked():
        async with serving() as server, opened(server, credentials=Shown("a\r\nb")) as transport:
            with pytest.raises(NoCredentials, match="'Authorization'") as caught:
                await transport.get(ONE)
            return str(caught.value), server.requests

    message, requests = run(asked())
    assert ("a\r\nb" in message, requests) == (False, [])


@pytest.mark.parametrize("url", ["ftp://x", "https://", "https://x:0", "https://[", "x"])
def test_an_address_that_is_none(url):
    """An address that leads nowhere is refused at once."""

    async def asked():
        async with opened(url):
            pass

    with pytest.raises(Misconfigured, match="cluster's server"):
        run(asked())
