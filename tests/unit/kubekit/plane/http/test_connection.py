"""One connection: order, framing, persistence and flow control, over real sockets."""

import asyncio
import gzip
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

import pytest

from kubekit.plane.http.limits import Limits
from kubekit.plane.http.messages import Body, Handler, Response, SegmentedBody, ServerRequest
from tests.support.kubekit.http_builders import QUICK, Peer, connected, handling, settled, until

HEAD = b" HTTP/1.1\r\nHost: localhost\r\n"


def always(body: Body) -> Handler:
    return lambda _request: Response(200, body)


def get(path: str, *headers: str) -> bytes:
    lines = "".join(f"{header}\r\n" for header in headers)
    return f"GET {path}".encode() + HEAD + lines.encode() + b"\r\n"


def post(body: bytes, *headers: str) -> bytes:
    lines = "".join(f"{header}\r\n" for header in headers)
    return b"POST /" + HEAD + lines.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body


def echo(request: ServerRequest) -> Response:
    """The path and the body back again."""
    return Response(200, request.path.encode() + b"|" + request.body, "text/plain")


class Held:
    """A handler whose answers wait for the test."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answers: dict[str, asyncio.Future[Response]] = {}

    def __call__(self, request: ServerRequest) -> asyncio.Future[Response]:
        self.asked.append(request.path)
        answer = asyncio.get_running_loop().create_future()
        self.answers[request.path] = answer
        return answer

    async def received(self, path: str) -> None:
        await until(lambda: path in self.answers)

    def answer(self, path: str, response: Response) -> None:
        self.answers[path].set_result(response)


class Lines:
    """A stream that the test feeds."""

    def __init__(self, *lines: bytes) -> None:
        self.lines = list(lines)
        self.ended = False
        self.closed = False
        self.ready: Callable[[], None] = lambda: None

    def begin_again(self, *lines: bytes) -> None:
        self.lines, self.ended, self.closed = list(lines), False, False

    def start(self, ready: Callable[[], None]) -> None:
        self.ready = ready

    def take(self) -> Sequence[bytes]:
        taken, self.lines = self.lines, []
        return taken

    def tell(self, *lines: bytes) -> None:
        self.lines += lines
        self.ready()

    def end(self) -> None:
        self.ended = True
        self.ready()

    def close(self) -> None:
        self.closed = True


def test_one_connection_serves_many_requests():
    """A connection stays open after an answer."""

    async def story():
        async with handling(echo) as port, connected(port) as peer:
            return [(await peer.ask(get(f"/{n}"))).body for n in range(3)]

    assert asyncio.run(story()) == [b"/0|", b"/1|", b"/2|"]


def test_a_request_may_come_byte_by_byte():
    """How a request is cut into packets does not matter."""

    async def story():
        async with handling(echo) as port, connected(port) as peer:
            for byte in post(b"hello", "X: y"):
                await peer.send(bytes([byte]))
                await asyncio.sleep(0)
            return await peer.reply()

    assert asyncio.run(story()).body == b"/|hello"


def test_pipelined_requests_are_answered_in_order():
    """The second answer waits for the first one, also when it is ready before."""
    held = Held()

    def handler(request: ServerRequest):
        return held(request) if request.path == "/slow" else echo(request)

    async def story():
        async with handling(handler) as port, connected(port) as peer:
            await peer.send(get("/slow") + get("/quick") + post(b"last"))
            await held.received("/slow")
            held.answer("/slow", Response(200, b"at last"))
            return [(await peer.reply()).body for _ in range(3)]

    assert asyncio.run(story()) == [b"at last", b"/quick|", b"/|last"]


def test_nothing_more_is_read_while_many_requests_wait():
    """A client that sends without reading is held back, and loses nothing by it."""
    held = Held()

    def handler(request: ServerRequest):
        return held(request) if request.path == "/slow" else echo(request)

    async def story():
        async with handling(handler, Limits(pipelined=4)) as port, connected(port) as peer:
            await peer.send(get("/slow"))
            await held.received("/slow")
            await peer.send(b"".join(get(f"/{n}") for n in range(50)))
            await settled(lambda: 0)
            held.answer("/slow", Response(200, b""))
            return [(await peer.reply()).body for _ in range(51)]

    assert asyncio.run(story())[1:] == [f"/{n}|".encode() for n in range(50)]


def test_a_refusal_waits_its_turn_too():
    """What came before a malformed request is answered first."""
    held = Held()

    async def story():
        async with handling(held) as port, connected(port) as peer:
            await peer.send(get("/good") + b"rubbish\r\n\r\n")
            await held.received("/good")
            held.answer("/good", Response(200, b"good"))
            return [await peer.reply(), await peer.reply()], await peer.rest()

    replies, rest = asyncio.run(story())
    assert [reply.code for reply in replies] == [200, 400]
    assert rest == b""


@pytest.mark.parametrize(
    ("raw", "connection", "closes"),
    [
        (get("/"), None, False),
        (get("/", "Connection: close"), "close", True),
        (get("/").replace(b"1.1", b"1.0"), "close", True),
        (get("/", "Connection: keep-alive").replace(b"1.1", b"1.0"), "keep-alive", False),
    ],
    ids=["new", "new, asked to close", "old", "old, asked to stay"],
)
def test_a_connection_stays_open_as_its_client_wants(raw, connection, closes):
    """HTTP/1.1 stays open and HTTP/1.0 closes, unless the client asks for the opposite."""

    async def story():
        async with handling(echo) as port, connected(port) as peer:
            reply = await peer.ask(raw)
            again = b"" if closes else (await peer.ask(get("/again"))).body
            return reply, again or await peer.rest()

    reply, again = asyncio.run(story())
    assert reply.headers.get("connection") == connection
    assert again == (b"" if closes else b"/again|")


def test_a_client_that_waits_to_send_its_body_is_invited():
    """With Expect: 100-continue the body is asked for before it comes."""

    async def story():
        async with handling(echo) as port, connected(port) as peer:
            whole = post(b"hello", "Expect: 100-continue")
            await peer.send(whole[:-5])
            invited = await peer.reader.readuntil(b"\r\n\r\n")
            return invited, await peer.ask(whole[-5:])

    invited, reply = asyncio.run(story())
    assert invited == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert reply.body == b"/|hello"


def test_100_continue_waits_for_earlier_responses():
    """A client is not asked to send a body while an earlier response is pending."""
    held = Held()

    def handler(request: ServerRequest):
        return held(request) if request.path == "/slow" else echo(request)

    async def story():
        async with handling(handler) as port, connected(port) as peer:
            whole = post(b"hello", "Expect: 100-continue")
            await peer.send(get("/slow") + whole[:-5])
            await held.received("/slow")
            held.answer("/slow", Response(200, b"first"))
            first = await peer.reply()
            invited = await peer.reader.readuntil(b"\r\n\r\n")
            return first.body, invited[:12], (await peer.ask(whole[-5:])).body

    assert asyncio.run(story()) == (b"first", b"HTTP/1.1 100", b"/|hello")


def test_chunks_extensions_and_trailers_make_one_body():
    """A body in chunks arrives joined; what else stands between them has no meaning."""
    raw = b"POST /" + HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    raw += b"2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\nX: y\r\n\r\n"

    async def story():
        async with handling(echo) as port, connected(port) as peer:
            return (await peer.ask(raw)).body, (await peer.ask(get("/next"))).body

    assert asyncio.run(story()) == (b"/|hello", b"/next|")


def test_a_proxy_may_send_the_whole_address():
    """The path is taken from it."""

    async def story():
        async with handling(echo) as port, connected(port) as peer:
            return (await peer.ask(get("http://localhost:80/a/b?c"))).body

    assert asyncio.run(story()) == b"/a/b|"


def test_a_header_sent_twice_is_joined():
    """Neither of two values is lost."""

    async def story():
        def handler(request: ServerRequest) -> Response:
            return Response(200, request.headers["x-tail"].encode())

        async with handling(handler) as port, connected(port) as peer:
            return (await peer.ask(get("/", "X-Tail: a", "x-tail: b"))).body

    assert asyncio.run(story()) == b"a, b"


def test_head_gets_no_body():
    """The answer to HEAD is the head alone; the next answer follows at once."""

    async def story():
        async with handling(echo) as port, connected(port) as peer:
            await peer.send(get("/x").replace(b"GET", b"HEAD"))
            head = await peer.reply(bodiless=True)
            return head.headers["content-length"], (await peer.ask(get("/next"))).body

    assert asyncio.run(story()) == ("3", b"/next|")


def test_a_header_value_cannot_end_its_line():
    """Text of a user in a header starts no new header."""

    async def story():
        warning = [("warning", '299 - "a\r\nSet-Cookie: b"')]
        response = Response(200, b"", headers=warning)
        async with handling(lambda _: response) as port, connected(port) as peer:
            return (await peer.ask(get("/"))).headers

    headers = asyncio.run(story())
    assert headers["warning"] == '299 - "a??Set-Cookie: b"'
    assert "set-cookie" not in headers


def test_nothing_is_cached_unless_the_answer_says_so():
    """An answer may name its own cache-control, and it stands there once."""

    async def story():
        def handler(request: ServerRequest) -> Response:
            own = [("cache-control", "public")] if request.path == "/kept" else []
            return Response(304 if own else 200, b"", headers=own)

        async with handling(handler) as port, connected(port) as peer:
            return await peer.ask(get("/kept")), await peer.ask(get("/"))

    kept, plain = asyncio.run(story())
    assert (kept.headers["cache-control"], kept.names.count("cache-control")) == ("public", 1)
    assert "content-length" not in kept.headers
    assert plain.headers["cache-control"] == "no-cache, private"
    assert plain.headers["date"] == "Sun, 01 Mar 2026 12:00:00 GMT"


def test_a_large_body_is_sent_in_slices_with_its_length():
    """The parts of a list are joined by commas, and the length is known before."""
    parts = [b"%06d" % n * 100 for n in range(5000)]

    async def story():
        async with (
            handling(always(SegmentedBody(b"[", parts, b"]"))) as port,
            connected(port) as peer,
        ):
            return await peer.ask(get("/")), await peer.ask(get("/"))

    for reply in asyncio.run(story()):
        assert reply.body == b"[" + b",".join(parts) + b"]"
        assert int(reply.headers["content-length"]) == len(reply.body)


@pytest.mark.parametrize("body", [b"a" * 500_000, SegmentedBody(b"[", [b"b" * 600] * 900, b"]")])
def test_large_bodies_are_compressed_for_clients_that_accept_it(body):
    """Over the limit an answer is gzip in chunks; the bytes inside are the same."""

    async def story():
        async with (
            handling(always(body)) as port,
            connected(port) as peer,
        ):
            packed = await peer.ask(get("/", "Accept-Encoding: br, gzip;q=0.5"))
            plain = await peer.ask(get("/", "Accept-Encoding: gzip;q=0"))
            old = await peer.ask(get("/", "Accept-Encoding: gzip").replace(b"1.1", b"1.0"))
            return packed, plain, old

    packed, plain, old = asyncio.run(story())
    assert packed.headers["content-encoding"] == "gzip"
    assert len(packed.body) < 50_000
    assert gzip.decompress(packed.body) == plain.body == old.body
    assert len(plain.body) == len(body)


def test_a_slow_reader_of_a_large_body_gets_all_of_it():
    """While the peer does not read, no slice is made; when it does, the rest follows."""
    made: list[int] = []

    class Counted(Sequence[bytes]):
        def __len__(self) -> int:
            return 200

        def __getitem__(self, index):
            if index >= 200:
                raise IndexError
            made.append(index)
            return b"x" * 100_000

    async def story():
        async with (
            handling(always(SegmentedBody(b"", Counted(), b"")), Limits()) as port,
            connected(port) as peer,
        ):
            await peer.send(get("/"))
            head = await peer.reader.readuntil(b"\r\n\r\n")
            early = await settled(lambda: len(made)) - 200  # its length was counted once
            body = await peer.reader.readexactly(200 * 100_000 + 199)
            return head, early, body

    head, early, body = asyncio.run(story())
    assert head.startswith(b"HTTP/1.1 200")
    assert early < 150
    assert body.count(b"x") == 20_000_000


def test_a_stream_sends_what_is_ready_in_one_chunk():
    """Lines that are there together travel together; the end is the last chunk."""
    lines = Lines(b"a\n", b"b\n")

    async def story():
        async with (
            handling(always(lines)) as port,
            connected(port) as peer,
        ):
            await peer.send(get("/"))
            await peer.reader.readuntil(b"\r\n\r\n")
            first = await peer.chunk()
            lines.tell(b"c\n")
            lines.tell(b"d\n", b"e\n")
            second = await peer.chunk()
            lines.end()
            last = await peer.chunk()
            lines.begin_again(b"again\n")
            await peer.send(get("/"))
            await peer.reader.readuntil(b"\r\n\r\n")
            return first, second, last, await peer.chunk()

    assert asyncio.run(story()) == (b"a\nb\n", b"c\nd\ne\n", b"", b"again\n")


def test_a_stream_is_cut_into_slices():
    """Many lines at once become several chunks of bounded size, and no line is cut."""
    lines = Lines(*[b"x" * 999 + b"\n"] * 1000)

    async def story():
        async with (
            handling(always(lines)) as port,
            connected(port) as peer,
        ):
            await peer.send(get("/"))
            await peer.reader.readuntil(b"\r\n\r\n")
            chunks = [await peer.chunk()]
            while sum(map(len, chunks)) < 1_000_000:
                chunks.append(await peer.chunk())
            return chunks

    chunks = asyncio.run(story())
    assert max(map(len, chunks)) <= QUICK.slice
    assert all(chunk.endswith(b"\n") for chunk in chunks)


def test_an_old_client_gets_a_stream_without_chunks():
    """HTTP/1.0 knows no chunks: the stream ends with the connection."""
    lines = Lines(b"a\n")

    async def story():
        async with (
            handling(always(lines)) as port,
            connected(port) as peer,
        ):
            await peer.send(get("/").replace(b"1.1", b"1.0"))
            head = await peer.reader.readuntil(b"\r\n\r\n")
            line = await peer.reader.readline()
            lines.end()
            return head, line, await peer.rest()

    head, line, rest = asyncio.run(story())
    assert b"connection: close" in head
    assert b"transfer-encoding" not in head
    assert (line, rest) == (b"a\n", b"")


def test_a_stream_is_closed_when_its_client_goes():
    """There is no reader any more, so the watch behind it is released."""
    lines = Lines(b"a\n")

    async def story():
        async with handling(always(lines)) as port:
            async with connected(port) as peer:
                await peer.send(get("/"))
                await peer.reader.readuntil(b"a\n")
            await until(lambda: lines.closed)

    asyncio.run(story())
    assert lines.closed


def test_nothing_is_taken_from_a_stream_without_a_reader():
    """While the peer does not read, what is not taken stays where it is shared."""

    class Endless(Lines):
        taken = 0

        def take(self) -> Sequence[bytes]:
            self.taken += 1
            return [b"x" * 99_999 + b"\n"]

    lines = Endless()

    async def story():
        async with (
            handling(always(lines), Limits()) as port,
            connected(port) as peer,
        ):
            await peer.send(get("/"))
            await peer.reader.readuntil(b"\r\n\r\n")
            first = await settled(lambda: lines.taken)
            await peer.reader.readexactly(first * 100_000)
            await until(lambda: lines.taken > first)
            return first

    assert asyncio.run(story()) < 200


def test_a_client_may_stop_sending_before_it_has_its_answer():
    """Half a close is no reason to lose an answer."""
    held = Held()

    async def story():
        async with handling(held) as port, connected(port) as peer:
            await peer.send(get("/last"))
            peer.writer.write_eof()
            await held.received("/last")
            held.answer("/last", Response(200, b"here"))
            return (await peer.reply()).body, await peer.rest()

    assert asyncio.run(story()) == (b"here", b"")


def test_a_response_for_a_client_that_left_is_dropped():
    """A stream that was opened for a client that is gone is closed at once."""
    held, lines = Held(), Lines()

    async def story():
        async with handling(held) as port:
            async with connected(port) as peer:
                await peer.send(get("/late"))
                await held.received("/late")
            await settled(lambda: 0)
            held.answer("/late", Response(200, lines))
            await until(lambda: lines.closed)

    asyncio.run(story())
    assert lines.closed


def test_a_handler_that_breaks_ends_the_connection():
    """Without an answer there is nothing to say, and silence would hang the client."""
    held = Held()

    async def story():
        async with handling(held) as port, connected(port) as peer:
            await peer.send(get("/broken"))
            await held.received("/broken")
            held.answers["/broken"].set_exception(RuntimeError("broken"))
            try:
                return await peer.rest()
            except ConnectionError:
                return b""

    assert asyncio.run(story()) == b""


@pytest.mark.parametrize("seed", range(20))
def test_order_holds_however_requests_and_answers_fall(seed):
    """Requests cut anywhere, answers at once or some turns later: one order, nothing lost."""
    chance = Random(seed)

    def handler(request: ServerRequest):
        if chance.random() < 0.5:
            return echo(request)
        loop = asyncio.get_running_loop()
        answer = loop.create_future()
        _after(loop, chance.randrange(5), lambda: answer.set_result(echo(request)))
        return answer

    async def story():
        async with handling(handler, Limits(pipelined=3)) as port, connected(port) as peer:
            raw = b"".join(get(f"/{n}") for n in range(60))
            while raw:
                cut = chance.randrange(1, 200)
                await peer.send(raw[:cut])
                raw = raw[cut:]
                await asyncio.sleep(0)
            return [(await peer.reply()).body for _ in range(60)]

    assert asyncio.run(story()) == [f"/{n}|".encode() for n in range(60)]


def _after(loop: asyncio.AbstractEventLoop, turns: int, call: Callable[[], None]) -> None:
    if turns:
        loop.call_soon(_after, loop, turns - 1, call)
    else:
        call()


@pytest.mark.parametrize("sent", [b"", get("/slow")], ids=["at once", "in its turn"])
def test_a_handler_that_raises_ends_its_connection(sent):
    """No client waits for a response that will never come; the error is logged."""
    held = Held()

    def handler(request: ServerRequest):
        if request.path == "/slow":
            return held(request)
        raise RuntimeError("a fault of the handler")

    async def story():
        async with handling(handler) as port, connected(port) as peer, asyncio.timeout(5):
            await peer.send(sent + get("/broken"))
            if sent:
                await held.received("/slow")
                held.answer("/slow", Response(200, b"slow"))
                await peer.reply()
            return await _ended(peer)

    assert asyncio.run(story())


def test_a_stream_that_fails_does_not_hold_up_the_others(caplog):
    """Many streams go on in one turn; one that raises costs its own connection, no other."""
    streams: list[Lines] = []

    class Broken(Lines):
        def take(self) -> Sequence[bytes]:
            if not self.lines:
                return []
            raise RuntimeError("a fault of the stream")

    def handler(request: ServerRequest) -> Response:
        streams.append(Broken() if request.path == "/broken" else Lines())
        return Response(200, streams[-1])

    async def story():
        async with (
            handling(handler) as port,
            connected(port) as broken,
            connected(port) as sound,
            asyncio.timeout(5),
        ):
            for path, peer in (("/broken", broken), ("/sound", sound)):
                await peer.send(get(path))
                await peer.reader.readuntil(b"\r\n\r\n")
            await settled(lambda: 0)
            for stream in streams:
                stream.tell(b"line\n")
            chunk = await sound.chunk()
            return chunk, await _ended(broken), streams[0].closed

    assert asyncio.run(story()) == (b"line\n", True, True)
    assert "a fault of the stream" in caplog.text


def test_a_body_in_crumbs_costs_little_more_than_its_bytes():
    """Each chunk kept for itself would take twenty times the memory of what it holds."""
    crumbs = 100_000
    limits = replace(QUICK, body_time=60.0)
    head = b"POST /" + HEAD + b"Transfer-Encoding: chunked\r\n\r\n"

    async def story():
        async with handling(echo, limits) as port, connected(port) as peer:
            tracemalloc.start()
            try:
                await peer.send(head + b"2\r\nab\r\n" * crumbs)
                await settled(lambda: tracemalloc.get_traced_memory()[0])
                held = tracemalloc.take_snapshot().filter_traces(
                    [tracemalloc.Filter(inclusive=True, filename_pattern="*/plane/http/reader.py")]
                )
            finally:
                tracemalloc.stop()
            reply = await peer.ask(b"0\r\n\r\n")
            return sum(trace.size for trace in held.traces), reply.body

    held, body = asyncio.run(story())
    assert body == b"/|" + b"ab" * crumbs
    assert held < 2 * 2 * crumbs


async def _ended(peer: Peer) -> bool:
    """Whether the server ends the connection, politely or not."""
    try:
        await peer.rest()
    except ConnectionError:
        return True
    return peer.reader.at_eof()
