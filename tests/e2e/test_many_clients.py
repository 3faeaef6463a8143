"""Many, slow and greedy clients: their cost is limited, and they do not affect other clients.

The bounds on memory are several times what is measured, and far below what it would be if the
server kept for such a client what the client does not take.
"""

import asyncio
import base64
import json
import select
import ssl
from contextlib import AsyncExitStack, suppress
from random import Random

import pytest

from kubekit.plane.http.limits import Limits
from kubekit.plane.store.settings import StoreSettings
from tests.support.kubekit import plane_worlds
from tests.support.kubekit.server_process import (
    CONFIG_MAPS,
    Client,
    ServerProcess,
    ServerSetup,
    head,
    server_process,
)
from tests.support.kubekit.virtual_time import VirtualLoop

pytestmark = pytest.mark.e2e

MIB = 1 << 20
IDLE = 400
READERS = 20
HASTE = Limits(header_time=0.2, body_time=0.2, idle_time=0.2, tick=0.05)


class CountingLoop(VirtualLoop):
    """Counts its iterations: it reads the clock once in each."""

    turns = 0

    def time(self):
        self.turns += 1
        return super().time()


@pytest.fixture(params=[False, True], ids=["plain", "tls"])
def server(request, tmp_path):
    """A server with everything as it is by default."""
    with server_process(ServerSetup(folder=tmp_path, tls=request.param)) as running:
        yield running


@pytest.fixture
def hasty(tmp_path):
    """A server with very short timeouts."""
    with server_process(ServerSetup(folder=tmp_path, limits=HASTE)) as running:
        yield running


def test_d5_idle_watches(server):
    """Hundreds of idle watches cost little, and receive the next event."""
    other = server.client()
    before = server.memory()
    watching = [_watcher(server) for _ in range(IDLE)]
    cost = server.memory() - before
    other.create("news")

    assert [_type_and_name(next(client.events())) for client in watching] == [
        ("ADDED", "news")
    ] * IDLE
    assert cost < IDLE * 128 * 1024


def test_d5_a_watcher_that_cannot_keep_up(tmp_path):
    """A watch that falls behind the history gets 410 and is closed; others miss nothing."""
    count, text = 300, "x" * 100_000
    settings, limits = StoreSettings(ring_events=32), Limits(stall_time=3600)
    with server_process(ServerSetup(folder=tmp_path, settings=settings, limits=limits)) as server:
        writer, quick, slow = server.client(), _watcher(server), _watcher(server, narrow=True)
        received, events = [], quick.events()
        for number in range(count):
            writer.create(f"n{number}", text)
            received.append(_type_and_name(next(events)))
        late = list(slow.events())

    assert received == [("ADDED", f"n{number}") for number in range(count)]
    assert [_type_and_name(event) for event in late[:-1]] == received[: len(late) - 1]
    assert (late[-1]["type"], late[-1]["object"]["code"]) == ("ERROR", 410)
    assert len(late) < count


def test_watchers_that_never_read(tmp_path):
    """What is not read is not kept for each of them: they all read from one memory."""
    settings, limits = StoreSettings(ring_bytes=4 * MIB), Limits(stall_time=3600)
    with server_process(ServerSetup(folder=tmp_path, settings=settings, limits=limits)) as server:
        writer = server.client()
        _rewrite(writer, 200)
        before = server.memory()
        for _ in range(50):
            _watcher(server, narrow=True)
        _rewrite(writer, 200)
        cost = server.memory() - before

    assert cost < 50 * 2 * MIB  # of the 10 MiB that each was sent


def test_a_watcher_that_stops_reading(tmp_path):
    """A client that does not read for too long is disconnected."""
    limits = Limits(stall_time=0.2, tick=0.05)
    with server_process(ServerSetup(folder=tmp_path, limits=limits)) as server:
        writer = server.client()
        alone = _sockets_after_an_answer(server, writer)
        _watcher(server, narrow=True)
        assert _sockets_after_an_answer(server, writer) == alone + 1
        _rewrite(writer, 200)
        while _sockets_after_an_answer(server, writer) > alone:
            """Until the time of the test is up."""


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_d5_slow_readers_of_a_long_list(server, encoding):
    """A list is rendered no faster than it is read, and other requests do not wait for it."""
    other = server.client()
    size = _fill(other, count=250, size=60_000)
    before = server.memory()
    slow = [_reader(server, encoding) for _ in range(READERS)]
    statuses = [other.ask("GET", CONFIG_MAPS + "/text-0") for _ in range(200)]
    cost = server.memory() - before

    assert statuses == [200] * 200
    assert [len(client.read(1000)) for client in slow] == [1000] * READERS
    assert cost < READERS * size / 4


def test_a_slow_reader_gets_everything(server):
    """A list that is read in small portions is as whole as any."""
    other = server.client()
    _fill(other, count=100, size=60_000)
    slow = server.client(narrow=True)
    slow.send("GET", CONFIG_MAPS)
    length = int(slow.head()[1]["content-length"])
    body = b"".join(slow.read(min(65_536, length - at)) for at in range(0, length, 65_536))

    names = {item["metadata"]["name"] for item in json.loads(body)["items"]}
    assert names == {f"text-{number}" for number in range(100)}


@pytest.mark.parametrize(
    "start",
    [head("POST", CONFIG_MAPS, 100_000), b"GET / HTTP/1.1\r\nhost: "],
    ids=["body", "head"],
)
def test_d5_a_request_that_comes_byte_by_byte(hasty, start):
    """However busily it trickles, a request that is not there in time is refused."""
    client = hasty.client()
    client.socket.sendall(start)
    while not _readable(client, 0.01):
        client.socket.sendall(b"a")
    status, headers = client.head()
    answer = json.loads(client.read(int(headers["content-length"])))

    assert (status, answer["kind"], answer["code"]) == (408, "Status", 408)
    assert _hung_up(client)


def test_a_client_that_sends_nothing(hasty):
    """A connection that is not used is closed."""
    assert hasty.client().rest() == b""


def test_d5_unfinished_bodies(server):
    """Writers that stop halfway hold no more than what they have sent."""
    before = server.memory()
    for _ in range(100):
        server.client().socket.sendall(head("POST", CONFIG_MAPS, MIB) + b"a" * 100_000)
    statuses = [server.client().ask("GET", CONFIG_MAPS) for _ in range(50)]

    assert statuses == [200] * 50
    assert server.memory() - before < 100 * MIB / 2


def test_a_large_body_of_a_anonymous(server):
    """It is refused by its head; nothing of it is kept or waited for."""
    anonymous = server.client()
    start = head("POST", CONFIG_MAPS, MIB).replace(b"Bearer ", b"Bearer not-")
    anonymous.socket.sendall(start)

    assert anonymous.rest().startswith(b"HTTP/1.1 401 ")


def test_unfinished_bodies_of_many(tmp_path):
    """All together they hold no more than is allowed; what they give up is there for others."""
    with server_process(ServerSetup(folder=tmp_path, limits=Limits(bodies=250_000))) as server:
        start = head("POST", CONFIG_MAPS, MIB) + b"a" * 100_000
        first, second, third = (server.client() for _ in range(3))
        for client in (first, second):
            client.socket.sendall(start)
            assert server.client().ask("GET", CONFIG_MAPS) == 200
        third.socket.sendall(start)
        refused = third.rest()
        first.socket.close()
        while (status := _created(server, 100_000)) == 429:
            pass
    assert refused.startswith(b"HTTP/1.1 429 ")
    assert status == 201


def _created(server, size):
    document = {"metadata": {"generateName": "n-"}, "data": {"text": "a" * size}}
    return server.client().ask("POST", CONFIG_MAPS, document)


@pytest.mark.parametrize("size", [0, 3 * MIB], ids=["small", "large"])
def test_requests_without_end_on_one_connection(server, size):
    """Requests that wait for the one before them are read only as far as there is room."""
    greedy, other = server.client(), server.client()
    greedy.send("GET", CONFIG_MAPS + "?watch=true")
    before = server.memory()
    sent = _flood(greedy, other, head("PUT", CONFIG_MAPS + "/text", size) + b"a" * size)

    assert sent < 256 * MIB
    assert server.memory() - before < 64 * MIB


def test_a_flood_that_is_answered(server):
    """Requests sent in one go are answered all, in order."""
    client = server.client()
    client.create("text")
    client.socket.sendall(
        b"".join(head("GET", f"{CONFIG_MAPS}/{name}") for name in ("text", "none") * 1000)
    )
    statuses = []
    for _ in range(2000):
        status, headers = client.head()
        client.read(int(headers["content-length"]))
        statuses.append(status)

    assert statuses == [200, 404] * 1000


def test_d5_more_connections_than_there_may_be(tmp_path):
    """An excess connection gets an error and is closed; existing ones go on."""
    with server_process(ServerSetup(folder=tmp_path, limits=Limits(connections=20))) as server:
        present = [server.client() for _ in range(20)]
        statuses = [client.ask("GET", CONFIG_MAPS) for client in present]
        answer = server.client().rest()
        again = [client.ask("GET", CONFIG_MAPS) for client in present]

    assert statuses == again == [200] * 20
    assert answer.startswith(b"HTTP/1.1 429 ")


def test_idle_planes(tmp_path):
    """Unused planes do nothing, hour after hour, once their history is compacted."""

    async def turns_in_a_day(loop):
        async with AsyncExitStack() as stack:
            for number in range(10):
                await stack.enter_async_context(plane_worlds.opened(tmp_path / str(number)))
            await asyncio.sleep(3600)
            before = loop.turns
            await asyncio.sleep(24 * 3600)
            return loop.turns - before

    with asyncio.Runner(loop_factory=CountingLoop) as runner:
        assert runner.run(turns_in_a_day(runner.get_loop())) < 10


def _watcher(server: ServerProcess, *, narrow: bool = False) -> Client:
    client = server.client(narrow=narrow)
    client.watch()
    return client


def _type_and_name(event):
    return event["type"], event["object"]["metadata"].get("name")


def _reader(server, encoding):
    """A client that requested the whole list and has not started to read it."""
    client = server.client(narrow=True)
    client.send("GET", CONFIG_MAPS, accept_encoding=encoding)
    assert client.head()[0] == 200
    return client


def _fill(client, *, count, size):
    """Make objects that do not shrink much; how long a list of them is."""
    chance = Random(1)
    for number in range(count):
        client.create(f"text-{number}", base64.b64encode(chance.randbytes(size * 3 // 4)).decode())
    return count * size


def _rewrite(client, times):
    """Write one object of 50 KB over and over."""
    document = {"metadata": {"name": "text"}, "data": {"text": "x" * 50_000}}
    client.ask("POST", CONFIG_MAPS, document)
    for number in range(times):
        document["data"]["turn"] = str(number)
        assert client.ask("PUT", CONFIG_MAPS + "/text", document) == 200


def _flood(greedy, other, request):
    """Send requests until the server takes no more; how many bytes it took."""
    greedy.socket.settimeout(0)
    sent, refused = 0, 0
    while refused < 3:
        refused += 1
        with suppress(BlockingIOError, ssl.SSLWantWriteError):
            while True:
                sent += greedy.socket.send(request[sent % len(request) :] + request)
                refused = 0
        assert other.ask("GET", CONFIG_MAPS) == 200  # the server has had a turn meanwhile
    return sent


def _readable(client, patience):
    return bool(select.select((client.socket,), (), (), patience)[0])


def _hung_up(client):
    """Wait until the server has closed its end."""
    poll = select.poll()
    poll.register(client.socket, select.POLLRDHUP)
    return bool(poll.poll(60_000))


def _sockets_after_an_answer(server, client):
    """How many sockets the server has open when it has just answered."""
    assert client.ask("GET", CONFIG_MAPS) == 200
    return server.sockets()
