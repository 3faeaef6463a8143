"""Seeing from outside what a controller has done: a watch that is read in a thread of its own."""

import http.client
import ssl
import threading
import time
from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit

from bench.controllers.parents import GROUP, PLURAL, VERSION
from bench.load.connection import Target, trusting

_DONE: Final = b'"status":{"child":"'
_REVISION: Final = b'"resourceVersion":"'


class Statuses:
    """When each parent of a namespace first had a status, in nanoseconds."""

    def __init__(self, target: Target, namespace: str, version: str, prefix: str = "") -> None:
        self.seen: dict[bytes, int] = {}
        self._news = threading.Condition()
        self._target = target
        self._path = f"{prefix}/apis/{GROUP}/{VERSION}/namespaces/{namespace}/{PLURAL}"
        self._version = version.encode()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def wait_for(self, count: int, seconds: float) -> bool:
        """Whether so many have one, at the latest after a while."""
        with self._news:
            return self._news.wait_for(lambda: len(self.seen) >= count, seconds)

    def _read(self) -> None:
        """Read until the server goes: a watch may be cut off, and goes on from the last version."""
        with suppress(ConnectionRefusedError):
            while True:
                query = f"?watch=true&resourceVersion={self._version.decode()}"
                self._note(_opened(self._target, self._path + query))

    def _note(self, stream: http.client.HTTPResponse) -> None:
        for line in stream:
            at = time.perf_counter_ns()
            self._version = line.partition(_REVISION)[2].partition(b'"')[0] or self._version
            _, done, rest = line.partition(_DONE)
            if done:
                with self._news:
                    self.seen.setdefault(rest[: rest.index(b'"')], at)
                    self._news.notify()


def _opened(target: Target, path: str) -> http.client.HTTPResponse:
    address = urlsplit(target.url)
    context: ssl.SSLContext = trusting(target)
    connection = http.client.HTTPSConnection(
        address.hostname or "", address.port, context=context, timeout=600
    )
    connection.request("GET", path, headers={"Authorization": f"Bearer {target.token}"})
    return connection.getresponse()
