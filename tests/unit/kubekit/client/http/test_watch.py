"""Watches: any cutting of the stream, its ends, its errors, and a reader who is slow."""

import asyncio

import msgspec
import pytest
from hypothesis import given, settings as examples, strategies as st

from kubekit.api.errors import ApiError, Expired, Forbidden, InternalError, NotFound, Unavailable
from kubekit.client.http.settings import HttpSettings
from kubekit.client.options import PLAIN_WATCH, WatchOptions
from kubekit.client.transport import WatchEvent
from tests.support.generated import depth
from tests.support.kubekit.http_builders import settled
from tests.unit.kubekit.client.http.scripted import (
    DOCUMENT,
    MAPS,
    ONE,
    events,
    hanging_up,
    opened,
    refused,
    reply,
    run,
    saying,
    serving,
    silent,
    status,
)

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def line(change: str = "ADDED", name: str = "one") -> bytes:
    document = DOCUMENT | {"metadata": {"name": name, "resourceVersion": "7"}}
    return msgspec.json.encode({"type": change, "object": document}) + b"\n"


async def seen(step, settings=None, options=PLAIN_WATCH) -> list[WatchEvent]:
    """All changes up to the end of the stream."""
    async with (
        serving(step) as server,
        opened(server, settings) as transport,
        transport.watch(MAPS, options) as stream,
    ):
        return [event async for event in stream]


def changes(found: list[WatchEvent]) -> list[tuple[str, str]]:
    return [(event.type, event.object["metadata"]["name"]) for event in found]


def cut(text: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({place for place in cuts if 0 < place < len(text)})
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


@examples(max_examples=depth.examples(30), deadline=None)
@given(st.lists(st.integers(1, 400), max_size=20), st.lists(st.text("ab\n", max_size=3)))
def test_any_chunking_gives_the_same_events(cuts, blanks):
    """Over a real socket too, the events do not depend on how they were cut, nor on blank lines."""
    names = [f"n{number}" for number in range(len(blanks) + 2)]
    text = b"".join(line(name=name) for name in names)
    for blank in blanks:
        text += b"\n" * len(blank)
    assert changes(run(seen(events(*cut(text, cuts))))) == [("ADDED", name) for name in names]


def test_one_byte_per_read():
    """An event that comes byte by byte is one event."""
    text = line() + line("MODIFIED")
    pieces = [text[at : at + 1] for at in range(len(text))]
    assert changes(run(seen(events(*pieces)))) == [("ADDED", "one"), ("MODIFIED", "one")]


def test_a_line_of_ten_megabytes():
    """An event may be large."""
    document = {"metadata": {"name": "big"}, "data": {"x": "y" * 10_000_000}}
    text = msgspec.json.encode({"type": "ADDED", "object": document}) + b"\n"
    pieces = [text[at : at + 100_000] for at in range(0, len(text), 100_000)]
    assert changes(run(seen(events(*pieces)))) == [("ADDED", "big")]


def test_a_line_beyond_the_limit():
    """A line without end cannot fill the memory."""
    with pytest.raises(InternalError, match="a line of the stream has more than 50 bytes"):
        run(seen(events(line()), HttpSettings(longest_line=50)))


def test_what_is_asked_for():
    """A watch is not compressed, and a place with a name watches that object alone."""

    async def asked():
        options = WatchOptions(resource_version="5", field_selector="a=b", allow_bookmarks=True)
        async with serving(events()) as server, opened(server) as transport:
            async with transport.watch(ONE, options) as stream:
                found = [event async for event in stream]
            return found, server.requests[0]

    found, request = run(asked())
    assert found == []
    assert request.line == (
        "GET /api/v1/namespaces/room/configmaps?watch=true"
        "&fieldSelector=metadata.name%3Done%2Ca%3Db&resourceVersion=5&allowWatchBookmarks=true"
    )
    assert "accept-encoding" not in request.headers


def test_a_bookmark_is_an_event():
    """A bookmark is passed on as it is."""
    assert changes(run(seen(events(line("BOOKMARK", ""))))) == [("BOOKMARK", "")]


def test_the_end_of_a_stream_is_no_error():
    """A server ends a watch when its time is over, and the connection is used again."""

    async def asked():
        async with serving(events(line()), events()) as server, opened(server) as transport:
            counts = []
            for _ in range(2):
                async with transport.watch(MAPS, PLAIN_WATCH) as stream:
                    counts.append(len([event async for event in stream]))
            return counts, server.connections

    assert run(asked()) == ([1, 0], 1)


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (events(line(), line()[:20]), "the watch ended in the middle of a line"),
        (events(line(), line()[:20], close=True), "closed the connection in the middle"),
        (events(line(), close=True), "closed the connection in the middle"),
        (hanging_up(b"HTTP/1.0 200 OK\r\n\r\n", line(), line()[:9]), "in the middle of a line"),
        (saying(HEAD, b"%x\r\n%s\r\nZZ\r\n" % (len(line()), line())), "does not answer in HTTP"),
    ],
    ids=["ended", "half a line", "no end", "half at the end", "garbage"],
)
def test_a_stream_that_breaks(step, why):
    """What came before is seen; then the watch is not available, and says why and of what."""

    async def asked():
        found: list[WatchEvent] = []
        async with (
            serving(step) as server,
            opened(server) as transport,
            transport.watch(MAPS, PLAIN_WATCH) as stream,
        ):
            with pytest.raises(Unavailable) as caught:
                await _gather(stream, found)
            return len(found), caught.value.message, server.url, len(server.requests)

    count, message, url, asked_times = run(asked())
    assert (count, asked_times) == (1, 1)
    assert why in message
    assert f'GET configmaps in namespace "room": the server {url} ' in message


@pytest.mark.parametrize(
    "said",
    [b'{"type":', b"[]", b'{"type":"ODD","object":{}}', b'{"type":"ERROR","object":{"code":"x"}}'],
    ids=["cut", "list", "odd", "error"],
)
def test_a_line_that_makes_no_sense(said):
    """A watch from the same version would meet it again, so it is no trouble that passes."""
    with pytest.raises(InternalError, match=r"the server .* a line of the watch is no change"):
        run(seen(events(line(), said + b"\n")))


async def _gather(stream, found):
    async for event in stream:
        found.append(event)


@pytest.mark.parametrize(
    ("code", "reason", "kind"),
    [(410, "Expired", Expired), (410, "Gone", Expired), (403, "Forbidden", Forbidden)],
)
def test_an_error_within_the_stream_is_raised(code, reason, kind):
    """An ERROR is the refusal it stands for."""
    error = b'{"type":"ERROR","object":%s}\n' % status(code, reason, "too old")
    with pytest.raises(kind, match="too old"):
        run(seen(events(line(), error)))


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (refused(410, "Expired"), Expired),
        (reply(404, b"404 page not found", "text/plain"), NotFound),
    ],
)
def test_a_watch_that_is_refused(step, kind):
    """A refusal comes before the stream is open, and leaves the connection usable."""

    async def asked():
        async with serving(step, events()) as server, opened(server) as transport:
            with pytest.raises(kind):
                async with transport.watch(MAPS, PLAIN_WATCH):
                    pass
            async with transport.watch(MAPS, PLAIN_WATCH):
                return server.connections

    assert run(asked()) == 1


def test_a_watch_is_asked_for_again_where_that_is_safe():
    """To begin a watch is a read: it is repeated when the server says so or the connection drops."""

    async def asked():
        steps = (refused(429, "TooManyRequests", Retry_After="0"), hanging_up(), events(line()))
        async with (
            serving(*steps) as server,
            opened(server) as transport,
            transport.watch(MAPS, PLAIN_WATCH) as stream,
        ):
            return changes([event async for event in stream]), len(server.requests)

    assert run(asked()) == ([("ADDED", "one")], 3)


def test_a_watch_that_does_not_begin():
    """A server that does not answer is given up in time."""
    with pytest.raises(ApiError, match=r"nothing came within 0\.05 s"):
        run(seen(silent, HttpSettings(request_timeout=0.05)))


def test_leaving_a_watch_closes_it():
    """Who leaves the context hangs up, and the server notices."""

    async def asked():
        ended = asyncio.Event()

        async def endless(writer):
            writer.write(HEAD)
            try:
                while True:
                    writer.write(b"%x\r\n%s\r\n" % (len(line()), line()))
                    await writer.drain()
                    await asyncio.sleep(0)
            finally:
                ended.set()

        async with serving(endless) as server, opened(server) as transport:
            async with transport.watch(MAPS, PLAIN_WATCH) as stream:
                first = await anext(aiter(stream))
            async with asyncio.timeout(10):
                await ended.wait()
        return changes([first])

    assert run(asked()) == [("ADDED", "one")]


def test_a_slow_reader_is_waited_for():
    """Nothing is read from the socket while the stream is not consumed, and nothing is lost."""
    many = 20_000
    chunk = b"".join(line(name="n" * 1000) for _ in range(100))

    async def asked():
        sent = 0

        async def pouring(writer):
            nonlocal sent
            writer.write(HEAD)
            for _ in range(many // 100):
                writer.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
                await writer.drain()
                sent += 100
            writer.write(b"0\r\n\r\n")

        async with (
            serving(pouring) as server,
            opened(server) as transport,
            transport.watch(MAPS, PLAIN_WATCH) as stream,
        ):
            held_back = await settled(lambda: sent) < many
            return held_back, len([event async for event in stream])

    assert run(asked()) == (True, many)
